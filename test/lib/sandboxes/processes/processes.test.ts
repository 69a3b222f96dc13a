import { existsSync, mkdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ProcessEvent } from '../../../../lib/contract/messages.ts';
import { ServiceError } from '../../../../lib/errors.ts';
import { silentLog } from '../../../../lib/log.ts';
import type { KeptOutput, NewProcess, Processes } from '../../../../lib/process-services.ts';
import type { CommandEvent, RunningCommand } from '../../../../lib/runtime/runtime.ts';
import { ProcessTable } from '../../../../lib/sandboxes/processes/process-table.ts';
import { createProcesses } from '../../../../lib/sandboxes/processes/processes.ts';
import { createRequest, execRequest, Fixture, NO_SURROUNDINGS, never } from '../fixture.ts';

/** Resolves at the call, or when the signal aborts. */
function untilCalled(signal: AbortSignal): [Promise<void>, () => void] {
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  signal.addEventListener('abort', end);
  return [ended, end];
}

/** A command that a test ends. */
class FakeCommand implements RunningCommand {
  readonly taken: string[] = [];
  inputEnded = false;
  /** Output at its end. */
  last = '';
  readonly input = {
    write: async (data: Uint8Array) => void this.taken.push(Buffer.from(data).toString()),
    end: () => {
      this.inputEnded = true;
    },
  };
  readonly #output: string;
  readonly #ended: Promise<void>;
  readonly end: () => void;

  constructor(output: string, signal: AbortSignal) {
    this.#output = output;
    [this.#ended, this.end] = untilCalled(signal);
  }

  kill = async () => {};
  pids = () => [];
  readonly endLeftBehind = undefined;

  async *[Symbol.asyncIterator](): AsyncGenerator<CommandEvent> {
    yield { kind: 'output', stream: 'STDOUT', data: Buffer.from(this.#output) };
    await this.#ended;
    if (this.last !== '') yield { kind: 'output', stream: 'STDOUT', data: Buffer.from(this.last) };
    yield { kind: 'exit', exitCode: 0, durationMs: 1, outOfMemory: false };
  }
}

async function* nothing(): AsyncGenerator<never> {}

const PIECE = 32 * 1024;
const fixture = { now: undefined as unknown as Fixture };
let sandbox_id: string;
let commands: FakeCommand[];
let processes: Processes;

const keep = () => () => undefined;
const request = (process_id: string, fields: Partial<NewProcess> = {}): NewProcess => {
  const nothing = {
    argv: [],
    ...NO_SURROUNDINGS,
    stdin: false,
    terminal: undefined,
    timeout: 0,
    labels: {},
    merge: false,
  };
  return { sandbox_id, process_id, command: 'x', ...nothing, ...fields };
};
const start = (id: string, fields?: Partial<NewProcess>) => processes.start(request(id, fields), never, keep);

beforeEach(async () => {
  const made = new Fixture();
  fixture.now = made;
  const sandboxes = await made.start();
  await made.addCodebase();
  sandbox_id = (await sandboxes.create(createRequest())).id;
  commands = [];
  const running = made.context.find(sandbox_id).running!;
  running.exec = async ({ signal }) => {
    const command = new FakeCommand(`output ${commands.length}`, signal);
    commands.push(command);
    return command;
  };
  processes = createProcesses(made.context);
});

afterEach(() => fixture.now.remove());

it('runs the command of a process with merged streams on request, and not with a terminal', async () => {
  const merged: unknown[] = [];
  const running = fixture.now.context.find(sandbox_id).running!;
  const run = running.exec;
  running.exec = (command) => {
    merged.push(command.merge);
    return run.call(running, command);
  };
  await start('a', { merge: true });
  await start('b', { merge: true, terminal: { columns: 80, rows: 24 } });
  await start('c');
  expect(merged).toEqual([true, false, false]);
  await expect(start('a')).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
  await expect(start('a', { merge: true })).resolves.toMatchObject({ process_id: 'a' });
});

describe('Exec with yield_after', () => {
  const run = (take: (output: KeptOutput) => void) =>
    processes.execOrYield(execRequest(sandbox_id, { yield_after: 60_000 }), never, keep, take);

  it('has the whole output of an ended command although other starts need its place', async () => {
    for (const id of ['a', 'b', 'c']) await start(id);
    let text = '';
    let other: Promise<unknown> | undefined;
    const take = ({ data, missing }: KeptOutput) => {
      expect(missing).toBe(0);
      if (data) text += data;
      other ??= start('d').catch((error: ServiceError) => error.code);
    };
    const answer = run(take);
    await expect.poll(() => commands.length).toBe(4);
    commands[3]!.end();
    expect(await answer).toMatchObject({ end: { reason: 'exited' } });
    expect(text).toBe('output 3');
    expect(await other).toBe('RESOURCE_EXHAUSTED');
    await expect(start('d')).resolves.toMatchObject({ process_id: 'd' });
  });

  it('tells of each stream how much is no longer kept', async () => {
    const pieces = (['STDERR', 'STDOUT', 'STDERR'] as const).flatMap((stream, at) =>
      Array.from({ length: [10, 20, 5][at]! }, () => ({ stream, data: Buffer.alloc(PIECE, stream) })),
    );
    fixture.now.context.find(sandbox_id).running!.exec = async () => ({
      kill: async () => {},
      pids: () => [],
      input: undefined,
      endLeftBehind: undefined,
      async *[Symbol.asyncIterator](): AsyncGenerator<CommandEvent> {
        for (const piece of pieces) yield { kind: 'output', ...piece };
        yield { kind: 'exit', exitCode: 0, durationMs: 1, outOfMemory: false };
      },
    });
    const kept = { STDOUT: 0, STDERR: 0 };
    const missing = { STDOUT: 0, STDERR: 0 };
    await run((output) => {
      kept[output.stream] += output.data?.length ?? 0;
      missing[output.stream] += output.missing;
    });
    // The log keeps 64 KiB, and less than 512 KiB are still in memory: nothing of the first ten pieces.
    expect(missing.STDERR).toBeGreaterThanOrEqual(10 * PIECE);
    expect(missing.STDOUT).toBeGreaterThan(0);
    expect(kept).toEqual({ STDOUT: 20 * PIECE - missing.STDOUT, STDERR: 15 * PIECE - missing.STDERR });
  });

  it('answers also if its sandbox is destroyed while its output is read', async () => {
    const gone = () => {
      throw new ServiceError('NOT_FOUND', 'destroyed');
    };
    const answer = run(() => vi.spyOn(fixture.now.context, 'find').mockImplementation(gone));
    await expect.poll(() => commands.length).toBe(1);
    commands[0]!.end();
    expect(await answer).toMatchObject({ end: { reason: 'exited' } });
  });

  it('leaves no process if the caller leaves while the output is read', async () => {
    const caller = new AbortController();
    const given = execRequest(sandbox_id, { yield_after: 1 });
    const answer = processes.execOrYield(given, caller.signal, keep, () => caller.abort());
    await expect(answer).rejects.toMatchObject({ code: 'CANCELLED' });
    const left = await processes.list({ sandbox_id, labels: {}, running: false, page_size: 10, page_token: '' });
    expect(left.processes).toEqual([]);
  });
});

describe('input', () => {
  it('is not closed by an end at an offset that was not reached', async () => {
    await start('a', { stdin: true });
    const write = (offset: number, ...pieces: string[]) =>
      processes.write(
        { sandbox_id, process_id: 'a', offset, end: true },
        (async function* () {
          yield* pieces.map((piece) => Buffer.from(piece));
        })(),
        new AbortController().signal,
      );
    await expect(write(7)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await expect(write(7, '')).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    expect(commands[0]!.inputEnded).toBe(false);
    await expect(write(0, 'a', 'bc')).resolves.toEqual({ input_next: 3 });
    await expect(write(3)).resolves.toEqual({ input_next: 3 });
    expect(commands[0]).toMatchObject({ taken: ['a', 'bc'], inputEnded: true });
    commands[0]!.end();
  });

  it('of callers who have left is not kept while the process does not read, but for one piece', async () => {
    await start('a', { stdin: true });
    const sizes: number[] = [];
    let read = () => {};
    commands[0]!.input.write = async (data) => {
      sizes.push(data.length);
      await new Promise<void>((resolve) => {
        read = resolve;
      });
      return undefined;
    };
    const leaving = Array.from({ length: 20 }, () => new AbortController());
    const write = (signal: AbortSignal, size: number) =>
      processes.write(
        { sandbox_id, process_id: 'a', end: true },
        (async function* () {
          yield Buffer.alloc(size, 'x');
        })(),
        signal,
      );
    const left = leaving.map(({ signal }) => write(signal, 10 * 65_536));
    const refused = Promise.all(left.map((each) => expect(each).rejects.toMatchObject({ code: 'CANCELLED' })));
    const staying = write(new AbortController().signal, 3);
    await expect.poll(() => sizes).toEqual([65_536]);
    for (const each of leaving) each.abort();
    await refused;
    read();
    await expect.poll(() => sizes).toEqual([65_536, 3]);
    read();
    expect(await staying).toEqual({ input_next: 65_539 });
    commands[0]!.end();
  });
});

it('tells that standard input is closed once the program has closed it', async () => {
  await start('a', { stdin: true });
  commands[0]!.input.write = async () => {
    throw new ServiceError('FAILED_PRECONDITION', 'the command has closed its standard input');
  };
  async function* content() {
    yield Buffer.from('x');
  }
  const written = processes.write({ sandbox_id, process_id: 'a', end: false }, content(), new AbortController().signal);
  await expect(written).rejects.toMatchObject({ code: 'FAILED_PRECONDITION' });
  expect(await processes.get(sandbox_id, 'a')).toMatchObject({ stdin_open: false, input_next: 0 });
  commands[0]!.end();
});

it('stores an end that could not be stored, at the next cleanup', async () => {
  await start('a');
  const { layout, context } = fixture.now;
  const path = join(layout.processes, sandbox_id, 'a', 'process.json');
  const stored = () => JSON.parse(readFileSync(path, 'utf8')) as { end?: object };
  // Nothing can be written where a directory is.
  mkdirSync(`${path}.new`);
  commands[0]!.end();
  await expect.poll(async () => (await processes.get(sandbox_id, 'a')).end).toMatchObject({ reason: 'exited' });
  expect(stored().end).toBeUndefined();
  rmdirSync(`${path}.new`);
  await context.processes.expire();
  expect(stored().end).toMatchObject({ reason: 'exited' });
});

it('keeps no memory of the command of a process that has ended', async () => {
  await start('a');
  commands[0]!.end();
  await expect.poll(async () => (await processes.get(sandbox_id, 'a')).end?.reason).toBe('exited');
  const command = new WeakRef(commands.pop()!);
  setFlagsFromString('--expose_gc');
  const collect = runInNewContext('gc') as () => void;
  await expect
    .poll(() => {
      collect();
      return command.deref() === undefined;
    })
    .toBe(true);
});

it('removes the processes of an earlier server that ended long ago, also if nobody asks for them', async () => {
  await start('a');
  commands[0]!.end();
  await expect.poll(async () => (await processes.get(sandbox_id, 'a')).end?.reason).toBe('exited');
  const { context, layout } = fixture.now;
  const dir = join(layout.processes, sandbox_id, 'a');
  const limits = { processes: 8, outputBytes: 65_536, sandboxOutputBytes: 65_536, retention: 60_000 };
  const host = { dir: layout.processes, limits, log: silentLog };
  await new ProcessTable({ ...host, now: () => context.clock.now() + 30_000 }).expire();
  expect(existsSync(dir)).toBe(true);
  await new ProcessTable({ ...host, now: () => context.clock.now() + 90_000 }).expire();
  expect(existsSync(dir)).toBe(false);
});

describe('a caller that attaches', () => {
  it('gets the output of before apart from that of after, although both were read at once', async () => {
    await start('a');
    await expect.poll(async () => (await processes.get(sandbox_id, 'a')).output_next).toBe(8);
    const input = { stdin: nothing(), controls: nothing(), fail: () => {}, failed: new AbortController().signal };
    const request = { sandbox_id, process_id: 'a', offset: 2, takeover: false };
    const events = (await processes.attach(request, input))[Symbol.asyncIterator]();
    expect((await events.next()).value).toMatchObject({ attached: { offset: 8 } });
    commands[0]!.last = 'more';
    commands[0]!.end();
    await expect.poll(async () => (await processes.get(sandbox_id, 'a')).end?.reason).toBe('exited');
    const rest = [await events.next(), await events.next(), await events.next()];
    expect(rest.map(({ value }) => [value.next, Buffer.from(value.data).toString(), value.end?.reason])).toEqual([
      [8, 'tput 0', undefined],
      [12, 'more', undefined],
      [12, '', 'exited'],
    ]);
  });
});

it('leaves out processes whose files are damaged, which is logged, and keeps the others', async () => {
  for (const id of ['unreadable', 'garbage', 'whole']) await start(id);
  const { layout, context } = fixture.now;
  for (const command of commands) command.end();
  for (const { ended } of (await context.processes.of(sandbox_id)).all) await ended;
  const recordOf = (id: string) => join(layout.processes, sandbox_id, id, 'process.json');
  rmSync(recordOf('unreadable'));
  mkdirSync(recordOf('unreadable'));
  writeFileSync(recordOf('garbage'), '{"version":');
  const logged: unknown[] = [];
  const log = { ...silentLog, warn: (_: string, fields?: object) => void logged.push(fields) };
  const limits = context.settings.processes;
  const table = new ProcessTable({ dir: layout.processes, limits, now: () => Date.now(), log });
  expect((await table.of(sandbox_id)).all.map(({ id }) => id)).toEqual(['whole']);
  const dirs = ['garbage', 'unreadable'].map((id) => expect.objectContaining({ dir: dirname(recordOf(id)) }));
  expect(logged).toEqual(expect.arrayContaining(dirs));
});

it('keeps processes that a fault of the disk makes unreadable, and reads them once it has passed', async () => {
  for (const id of ['a', 'whole']) await start(id);
  const { layout, context } = fixture.now;
  for (const command of commands) command.end();
  for (const { ended } of (await context.processes.of(sandbox_id)).all) await ended;
  const path = join(layout.processes, sandbox_id, 'a', 'process.json');
  const record = readFileSync(path);
  rmSync(path);
  // A socket cannot be opened: ENXIO.
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(path, resolve));
  const limits = context.settings.processes;
  const table = new ProcessTable({ dir: layout.processes, limits, now: () => Date.now(), log: silentLog });
  await table.expire();
  await expect(table.of(sandbox_id)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  await new Promise((resolve) => server.close(resolve));
  writeFileSync(path, record);
  expect((await table.of(sandbox_id)).all.map(({ id }) => id)).toEqual(['a', 'whole']);
});

describe('a reader that the server cuts off', () => {
  const refusal = new ServiceError('UNAUTHENTICATED', 'the key was revoked');

  it('gets the reason, not an end of the events', async () => {
    await start('a');
    const call = new AbortController();
    const events: ProcessEvent[] = [];
    const reading = (async () => {
      for await (const event of await processes.watch({ sandbox_id, process_id: 'a', offset: 0 }, call.signal))
        events.push(event);
    })();
    await expect.poll(() => events.length).toBe(1);
    call.abort(refusal);
    await expect(reading).rejects.toBe(refusal);
    commands[0]!.end();
  });

  it('gets the reason instead of an empty answer', async () => {
    await start('a');
    await expect.poll(async () => (await processes.get(sandbox_id, 'a')).output_next).toBe(8);
    const call = new AbortController();
    const read = { sandbox_id, process_id: 'a', offset: 8, max_bytes: 0, wait: 60_000 };
    const reading = processes.read(read, call.signal);
    setImmediate(() => call.abort(refusal));
    await expect(reading).rejects.toBe(refusal);
    commands[0]!.end();
  });
});
