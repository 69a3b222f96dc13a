import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ExecStreamChunk } from '../../lib/contract/messages.ts';
import type { Execution } from '../../lib/runtime/runtime.ts';
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

const post = (headers: Record<string, string> = {}) =>
  fetch(rest.url + STREAM, { method: 'POST', body: '{"command":"x"}', headers });
const grpcStream = (options?: { deadline?: number }) =>
  rpc.stream('service.v1.SandboxService/ExecStream', { command: 'x' }, options);

describe('ExecStream over REST', () => {
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
});

describe('ExecStream over gRPC', () => {
  it('aborts a silent command when the deadline of its client passes', async () => {
    let aborted = false;
    run = async function* (signal) {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      aborted = true;
    } as typeof run;
    await expect(drain(grpcStream({ deadline: Date.now() + 200 }))).rejects.toMatchObject({ code: 4 });
    await until(() => aborted);
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
