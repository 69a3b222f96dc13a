import { once } from 'node:events';
import http2 from 'node:http2';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ExecStreamChunk } from '../../lib/contract/messages.ts';
import { ServiceError } from '../../lib/errors.ts';
import type { CommandEvent, Execution } from '../../lib/runtime/runtime.ts';
import { grpcOver, type Rest, type Rpc, restOver, until } from './clients.ts';
import { execution, exit, fakeServices, output } from './fake-services.ts';

const STREAM = '/v1/sandboxes/sb_1/exec/stream';
let run: (signal: AbortSignal) => Execution | Promise<Execution>;
let rest: Rest;
let rpc: Rpc;

beforeEach(async () => {
  const outcome = () => ({ session_ended: false, session_reset: false });
  const services = fakeServices({
    sandboxes: { exec: async (_request, signal) => run(signal) },
    sessions: {
      placeOf: () => ({ sandbox: 'sb_1', owner: 'me' }),
      exec: async (_request, signal) => ({ events: await run(signal), outcome }),
    },
  });
  services.keepaliveMs = 5;
  [rest, rpc] = await Promise.all([restOver(services), grpcOver(services)]);
});
afterEach(() => Promise.all([rest.close(), rpc.close()]));

const post = (headers: Record<string, string> = {}, signal: AbortSignal | null = null) =>
  fetch(rest.url + STREAM, { method: 'POST', body: '{"command":"x"}', headers, signal });
const grpcStream = (options?: { deadline?: number }) =>
  rpc.stream('service.v1.SandboxService/ExecStream', { command: 'x' }, options);

/** Endless output that counts the requested chunks; ends with its consumer or the signal. */
function endless(signal: AbortSignal, chunk = 65_536): Execution & { pulled: number; ended: boolean } {
  const events = {
    pulled: 0,
    ended: false,
    async *[Symbol.asyncIterator](): AsyncGenerator<CommandEvent> {
      try {
        while (!signal.aborted) {
          events.pulled++;
          yield output(Buffer.alloc(chunk));
          await new Promise((resolve) => setImmediate(resolve));
        }
        throw new ServiceError('CANCELLED', 'the command was cancelled');
      } finally {
        events.ended = true;
      }
    },
  };
  return events;
}

/** Output that starts with `go`, and ends with the signal. */
function gated(signal: AbortSignal): { execution: Execution; go(): void; aborted: boolean } {
  let go = () => {};
  const gate = new Promise<void>((resolve) => {
    go = resolve;
  });
  const state = { aborted: false, go: () => go(), execution: events() };
  signal.addEventListener('abort', () => {
    state.aborted = true;
    go();
  });
  async function* events(): AsyncGenerator<CommandEvent> {
    yield output('first');
    await gate;
    if (signal.aborted) throw new ServiceError('CANCELLED', 'the command was cancelled');
    yield output('second', 'STDERR');
    yield exit(5, 12);
  }
  return state;
}

describe('ExecStream over REST', () => {
  it('sends each chunk as a line as soon as it is written', async () => {
    let gate: ReturnType<typeof gated> | undefined;
    run = (signal) => {
      gate = gated(signal);
      return gate.execution;
    };
    const answer = await post();
    expect(answer.headers.get('content-type')).toBe('application/x-ndjson');
    const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
    const first = await reader.read();
    expect(JSON.parse(first.value!)).toEqual({
      data: Buffer.from('first').toString('base64'),
      stream: 'STDOUT',
      duration_ms: 0,
    });
    gate!.go();
    let rest = '';
    for (let each = await reader.read(); !each.done; each = await reader.read()) rest += each.value;
    expect(
      rest
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([
      { data: Buffer.from('second').toString('base64'), stream: 'STDERR', duration_ms: 0 },
      { data: '', stream: 'STDOUT', exit_code: 5, duration_ms: 12, end_reason: 'exited' },
    ]);
  });

  it('sends server-sent events if the client accepts them', async () => {
    run = () => execution(output('a'), exit());
    const answer = await post({ accept: 'text/event-stream' });
    expect(answer.headers.get('content-type')).toBe('text/event-stream');
    expect(await answer.text()).toBe(
      'data: {"data":"YQ==","stream":"STDOUT","duration_ms":0}\n\n' +
        'data: {"data":"","stream":"STDOUT","exit_code":0,"duration_ms":1,"end_reason":"exited"}\n\n',
    );
  });

  it.each([undefined, 'text/event-stream'])('sends data of any size in one message: %s', async (accept) => {
    const sizes = [49_151, 49_152, 49_153, 98_304, 98_305, 262_144];
    const all = sizes.map((size) => Buffer.from(Array.from({ length: size }, (_, at) => (at * 7) % 256)));
    run = () => execution(...all.map((data) => ({ ...output(''), data })), exit());
    const lines = (await (await post(accept === undefined ? {} : { accept })).text()).split('\n').filter(Boolean);
    const messages = lines.map((line) => JSON.parse(line.replace(/^data: /, '')) as { data: string });
    expect(messages).toHaveLength(all.length + 1);
    for (const [index, data] of all.entries()) {
      expect(messages[index]).toMatchObject({ stream: 'STDOUT', duration_ms: 0 });
      expect(Buffer.from(messages[index]!.data, 'base64').equals(data)).toBe(true);
      expect(messages[index]!.data).toHaveLength(Math.ceil(data.length / 3) * 4);
    }
  });

  it('answers an error before the first chunk with its status', async () => {
    run = () => Promise.reject(new ServiceError('FAILED_PRECONDITION', 'it is SANDBOX_STOPPED'));
    const answer = await post();
    expect(answer.status).toBe(400);
    expect(await answer.json()).toEqual({ code: 9, message: 'it is SANDBOX_STOPPED', details: [] });
  });

  it('sends a later error as the last line', async () => {
    run = () => execution(output('a'), new ServiceError('DEADLINE_EXCEEDED', 'late'));
    const lines = (await (await post()).text()).trim().split('\n');
    expect(JSON.parse(lines[1]!)).toEqual({ error: { code: 4, message: 'late', details: [] } });
  });

  it('blocks the command while the client does not read, and kills it when the client disconnects', async () => {
    let events: ReturnType<typeof endless> | undefined;
    run = (signal) => {
      events = endless(signal);
      return events;
    };
    const socket = connect(rest.port, '127.0.0.1');
    const body = '{"command":"x"}';
    socket.write(`POST ${STREAM} HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
    await once(socket, 'readable');
    await settled(() => events!.pulled);
    expect(events!.pulled).toBeLessThan(400);
    const before = events!.pulled;
    socket.read();
    socket.resume();
    await until(() => events!.pulled > before + 100);
    socket.destroy();
    await until(() => events!.ended);
  });

  it('aborts a silent command when the client disconnects', async () => {
    let gate: ReturnType<typeof gated> | undefined;
    run = (signal) => {
      gate = gated(signal);
      return gate.execution;
    };
    const client = new AbortController();
    const answer = await post({}, client.signal);
    await answer.body!.getReader().read();
    client.abort();
    await until(() => gate!.aborted);
  });
});

describe('ExecStream over gRPC', () => {
  it('sends each chunk as soon as it is written, and a last one with the exit code', async () => {
    let gate: ReturnType<typeof gated> | undefined;
    run = (signal) => {
      gate = gated(signal);
      return gate.execution;
    };
    const chunks: ExecStreamChunk[] = [];
    for await (const chunk of grpcStream()) {
      chunks.push(chunk as ExecStreamChunk);
      if (chunks.length === 1) gate!.go();
    }
    expect(chunks).toEqual([
      { data: Buffer.from('first'), stream: 'STDOUT', duration_ms: 0, denied: null },
      { data: Buffer.from('second'), stream: 'STDERR', duration_ms: 0, denied: null },
      { data: Buffer.alloc(0), stream: 'STDOUT', exit_code: 5, duration_ms: 12, end_reason: 'exited', denied: null },
    ]);
  });

  it('distinguishes exit code 0 from an absent one', async () => {
    run = () => execution(exit(0, 0));
    const chunks: unknown[] = [];
    for await (const chunk of grpcStream()) chunks.push(chunk);
    expect(chunks).toEqual([
      { data: Buffer.alloc(0), stream: 'STDOUT', exit_code: 0, duration_ms: 0, end_reason: 'exited', denied: null },
    ]);
  });

  it('ends with the status of an error before or after the first chunk', async () => {
    run = () => Promise.reject(new ServiceError('FAILED_PRECONDITION', 'it is SANDBOX_STOPPED'));
    await expect(drain(grpcStream())).rejects.toMatchObject({ code: 9, details: 'it is SANDBOX_STOPPED' });
    run = () => execution(output('a'), new ServiceError('DEADLINE_EXCEEDED', 'late'));
    await expect(drain(grpcStream())).rejects.toMatchObject({ code: 4, details: 'late' });
  });

  it('blocks the command while the client does not read, and kills it when the client cancels', async () => {
    let events: ReturnType<typeof endless> | undefined;
    run = (signal) => {
      events = endless(signal);
      return events;
    };
    // A grpc-js client reads ahead without limit, so only HTTP/2 flow control blocks the server.
    const session = http2.connect(`http://127.0.0.1:${rpc.port}`);
    const call = session.request({
      ':method': 'POST',
      ':path': '/service.v1.SandboxService/ExecStream',
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    // One message: field 2 (command) is "x".
    call.end(Buffer.from([0, 0, 0, 0, 3, 0x12, 1, 0x78]));
    await until(() => events !== undefined);
    await settled(() => events!.pulled);
    expect(events!.pulled).toBeLessThan(100);
    const before = events!.pulled;
    call.resume();
    await until(() => events!.pulled > before + 100);
    call.close(http2.constants.NGHTTP2_CANCEL);
    session.close();
    await until(() => events!.ended);
  });

  it('aborts a silent command when the client cancels or its deadline passes', async () => {
    let gate: ReturnType<typeof gated> | undefined;
    run = (signal) => {
      gate = gated(signal);
      return gate.execution;
    };
    const cancelled = grpcStream();
    cancelled.on('error', () => {});
    await once(cancelled, 'data');
    cancelled.cancel();
    await until(() => gate!.aborted);

    const late = grpcStream({ deadline: Date.now() + 200 });
    await expect(drain(late)).rejects.toMatchObject({ code: 4 });
    await until(() => gate!.aborted);
  });

  it('splits output above the maximum size of a message', async () => {
    run = () => execution(output(Buffer.alloc(5 << 20, 'a')), exit());
    let size = 0;
    for await (const chunk of grpcStream() as AsyncIterable<ExecStreamChunk>) {
      expect(chunk.data.length).toBeLessThanOrEqual(256 * 1024);
      size += chunk.data.length;
    }
    expect(size).toBe(5 << 20);
  });
});

async function drain(messages: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of messages);
}

/** Resolves when a count has not changed for a while. */
async function settled(count: () => number): Promise<void> {
  for (let before = -1, since = Date.now(); Date.now() - since < 300; ) {
    if (count() !== before) {
      before = count();
      since = Date.now();
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

describe.each([
  ['ExecStream', '/v1/sandboxes/sb_1/exec/stream', { sandbox_id: 'sb_1' }],
  ['SessionExecStream', '/v1/sessions/se_1/exec/stream', { session_id: 'se_1' }],
])('a command of %s that writes nothing', (method, path, subject) => {
  /** Ends when the test lets it. */
  const silent = () => {
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    run = () =>
      (async function* () {
        await ended;
        yield exit();
      })();
    return end;
  };

  it('is shown to run by keepalives, over both protocols', async () => {
    const ends = [silent()];
    const body = JSON.stringify({ command: 'x', keepalive: true });
    const answer = await fetch(rest.url + path, { method: 'POST', body });
    const lines = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
    expect(JSON.parse((await lines.read()).value!.split('\n')[0]!)).toMatchObject({ keepalive: true });
    ends.push(silent());
    const messages = rpc.stream(`service.v1.SandboxService/${method}`, { ...subject, command: 'x', keepalive: true });
    const [first] = (await once(messages, 'data')) as [ExecStreamChunk];
    expect(first).toMatchObject({ keepalive: true });
    for (const end of ends) end();
    await lines.cancel();
    await once(messages.resume(), 'end');
  });

  it('has no keepalive unless its client asks for it', async () => {
    const end = silent();
    const answer = fetch(rest.url + path, { method: 'POST', body: '{"command":"x"}' });
    setTimeout(end, 50);
    expect(await (await answer).text()).not.toContain('keepalive');
  });
});
