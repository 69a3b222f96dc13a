import * as fs from 'node:fs/promises';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { LogBudget } from '../../../lib/output-log/budget.ts';
import { type LogStream, OutputLog } from '../../../lib/output-log/output-log.ts';
import type { LogFileSystem } from '../../../lib/output-log/segment.ts';
import { logDirectories } from './log-directory.ts';

const directory = logDirectories();
const STREAMS: readonly LogStream[] = ['stdout', 'stderr', 'terminal'];

type Step =
  | { kind: 'append'; stream: number; size: number; times: number }
  | { kind: 'read'; place: number; size: number }
  | { kind: 'turns'; count: number }
  | { kind: 'drop' };

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('append' as const),
        stream: fc.nat(2),
        size: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 9000 })),
        times: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 40 })),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant('read' as const),
        place: fc.double({ min: 0, max: 1, noNaN: true }),
        size: fc.oneof(fc.integer({ min: 1, max: 10 }), fc.integer({ min: 1, max: 40_000 })),
      }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('turns' as const), count: fc.nat(20) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('drop' as const) }) },
  ),
  { minLength: 1, maxLength: 40 },
);

/** All output that was appended; the value of each byte follows from its offset. */
class Model {
  readonly streams: LogStream[] = [];

  append(stream: LogStream, size: number): Buffer {
    const from = this.streams.length;
    for (let index = 0; index < size; index++) this.streams.push(stream);
    return Buffer.from(valuesFrom(from, size));
  }

  /** What `read` returned must be true, whatever is missing. `known`: bytes of output when it was called. */
  check(offset: number, maxBytes: number, known: number, answer: Awaited<ReturnType<OutputLog['read']>>): void {
    let at = offset + answer.gap;
    let before: LogStream | undefined;
    const wrong: string[] = [];
    for (const { stream, offset: place, data } of answer.pieces) {
      if (place !== at || stream === before || data.length === 0) wrong.push(`a piece at ${place}`);
      data.forEach((value, index) => {
        if (value !== valueAt(at + index) || this.streams[at + index] !== stream) wrong.push(`byte ${at + index}`);
      });
      at += data.length;
      before = stream;
    }
    expect(wrong).toEqual([]);
    expect(answer.next).toBe(at);
    expect(at - offset - answer.gap).toBeLessThanOrEqual(maxBytes);
    if (offset < known) expect(at).toBeGreaterThan(offset);
  }
}

const valueAt = (offset: number) => (offset * 31 + (offset >> 8)) & 255;
const valuesFrom = (from: number, size: number) => Array.from({ length: size }, (_, index) => valueAt(from + index));

async function play(log: OutputLog, model: Model, budget: LogBudget, all: Step[]): Promise<void> {
  const reads: Promise<void>[] = [];
  for (const step of all) {
    if (step.kind === 'append') {
      for (let time = 0; time < step.times; time++) {
        const stream = STREAMS[(step.stream + time) % 3]!;
        await log.append(stream, model.append(stream, step.size));
      }
    } else if (step.kind === 'read') {
      const offset = Math.round(step.place * model.streams.length);
      const known = model.streams.length;
      reads.push(log.read(offset, step.size).then((answer) => model.check(offset, step.size, known, answer)));
    } else if (step.kind === 'turns') {
      for (let turn = 0; turn < step.count; turn++) await new Promise(setImmediate);
    } else {
      // Another log of the sandbox takes all room for a moment.
      await budget.turn(() => budget.makeRoom(budget.maxBytes));
    }
    expect(log.position.next).toBe(model.streams.length);
    expect(budget.kept).toBeLessThanOrEqual(budget.maxBytes);
  }
  await Promise.all(reads);
}

/** Reads everything; returns the bytes that are missing. */
async function readAll(log: OutputLog, model: Model): Promise<number> {
  let missing = 0;
  for (let offset = 0; offset < log.position.next; ) {
    const answer = await log.read(offset, 30_000);
    model.check(offset, 30_000, log.position.next, answer);
    missing += answer.gap;
    offset = answer.next;
  }
  return missing;
}

it('whatever is appended, dropped and read at the same time, answers are what was appended or a gap at the start', async () => {
  await fc.assert(
    fc.asyncProperty(steps, fc.constantFrom(16_384, 50_000), async (all, maxBytes) => {
      const at = directory();
      const model = new Model();
      const budget = new LogBudget(60_000);
      const log = await OutputLog.create(at, { maxBytes, budget, delayMs: 0 });
      await play(log, model, budget, all);
      await log.close();
      expect(await readAll(log, model)).toBe(log.position.first);
      const recovered = await OutputLog.recover(at, { maxBytes, budget: new LogBudget(60_000) });
      expect(recovered?.position).toEqual(log.position);
      expect(await readAll(recovered!, model)).toBe(log.position.first);
      await log.remove();
      expect(budget.kept).toBe(0);
    }),
    { numRuns: 30 },
  );
});

it('whatever the disk refuses, answers are what was appended or a gap', async () => {
  const fails = fc.array(fc.boolean(), { minLength: 1, maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(steps, fails, async (all, failures) => {
      let call = 0;
      const failing = failingAt(() => failures[call++ % failures.length]!);
      const at = directory();
      const model = new Model();
      const budget = new LogBudget(60_000);
      const log = await OutputLog.create(at, { maxBytes: 30_000, budget, fileSystem: failing, delayMs: 0 });
      await play(log, model, budget, all);
      await log.close();
      await readAll(log, model);
      const recovered = await OutputLog.recover(at, { maxBytes: 30_000, budget: new LogBudget(60_000) });
      await readAll(recovered!, model);
      await log.remove();
    }),
    { numRuns: 30 },
  );
});

/** A file system whose opening of files and writing fails, with a half of the data written, when `fails` says so. */
function failingAt(fails: () => boolean): LogFileSystem {
  const fault = () => Object.assign(new Error('EIO: i/o error'), { code: 'EIO', errno: -5 });
  return {
    ...fs,
    open: async (path, flags, mode) => {
      if (flags !== 'r' && fails()) throw fault();
      const handle = await fs.open(path, flags, mode);
      const write = handle.write.bind(handle);
      handle.write = (async (bytes: Buffer, offset: number, length: number, position: number) => {
        if (!fails()) return write(bytes, offset, length, position);
        await write(bytes, offset, length >> 1, position);
        throw fault();
      }) as typeof handle.write;
      return handle;
    },
  };
}
