import { readdirSync, statSync } from 'node:fs';
import * as fs from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Log } from '../../../lib/log.ts';
import { LogBudget } from '../../../lib/output-log/budget.ts';
import { OutputLog } from '../../../lib/output-log/output-log.ts';
import type { LogFileSystem } from '../../../lib/output-log/segment.ts';
import { bytes, logDirectories, readText } from './log-directory.ts';

const directory = logDirectories();
const KIB = 1024;
const piece = Buffer.alloc(16 * KIB, 'x');

async function filled(budget: LogBudget, kib: number, maxBytes = 1024 * KIB): Promise<OutputLog> {
  const log = await OutputLog.create(directory(), { maxBytes, budget });
  for (let written = 0; written < kib; written += 16) await log.append('stdout', piece);
  return log;
}

const keptOf = ({ position }: OutputLog) => (position.next - position.first) / KIB;

it('logs share a maximum: the largest lose their oldest output, a small one keeps all', async () => {
  const budget = new LogBudget(512 * KIB);
  const small = await filled(budget, 16);
  const large = await filled(budget, 320);
  await small.close();
  await large.close();
  const flood = await filled(budget, 1024);
  await flood.close();
  expect(budget.kept).toBeLessThanOrEqual(512 * KIB);
  expect(budget.kept).toBeGreaterThan(380 * KIB);
  expect(keptOf(small)).toBe(16);
  expect(keptOf(flood)).toBeGreaterThan(keptOf(large));
  expect(flood.position.next).toBe(1024 * KIB);
});

it('of two logs of one size, the one that has ended loses output first', async () => {
  const budget = new LogBudget(512 * KIB);
  const running = await filled(budget, 160);
  const ended = await filled(budget, 160);
  await ended.close();
  const third = await filled(budget, 224);
  await third.close();
  expect(keptOf(running)).toBe(160);
  expect(keptOf(ended)).toBeLessThan(160);
  await running.close();
});

it('many logs that each keep a little are dropped as a whole, with their numbers', async () => {
  const budget = new LogBudget(256 * KIB);
  const many = await Promise.all(Array.from({ length: 24 }, () => filled(budget, 16)));
  for (const log of many) await log.close();
  expect(budget.kept).toBeLessThanOrEqual(256 * KIB);
  const dropped = many.filter((log) => keptOf(log) === 0);
  expect(dropped.length).toBeGreaterThan(7);
  for (const log of dropped) expect(await readText(log)).toEqual([`gap:${16 * KIB}`]);
});

it('a log whose growing file was dropped goes on within a block', async () => {
  const budget = new LogBudget(256 * KIB);
  const log = await OutputLog.create(directory(), { maxBytes: 256 * KIB, budget });
  void log.append('stdout', bytes('before'));
  await log.read(0, 1);
  await expect.poll(() => budget.kept).toBeGreaterThan(0);
  await budget.turn(() => budget.makeRoom(budget.maxBytes));
  void log.append('stderr', bytes('after'));
  await log.close();
  expect(await readText(log)).toEqual(['gap:6', 'stderr:after']);
});

it('a full disk is a gap and one warning, and output is kept again when there is room', async () => {
  const warnings: string[] = [];
  const record = (message: string) => void warnings.push(message);
  const log: Log = { debug: record, info: record, warn: record, error: record };
  let full = true;
  const limited = fullDisk(() => full);
  const budget = new LogBudget(256 * KIB);
  const output = await OutputLog.create(directory(), {
    maxBytes: 256 * KIB,
    budget,
    log,
    fileSystem: limited,
    delayMs: 0,
  });
  for (let index = 0; index < 5; index++) {
    void output.append('stdout', bytes('lost!'));
    await new Promise(setImmediate);
    await budget.turn(async () => undefined);
  }
  full = false;
  void output.append('stdout', bytes('kept'));
  await output.close();
  expect(await readText(output)).toEqual(['gap:25', 'stdout:kept']);
  expect(warnings).toEqual(['output of a process could not be stored']);
});

it('a write that fails between two others is a gap between them, also after the death of the server', async () => {
  let full = false;
  const budget = new LogBudget(256 * KIB);
  const at = directory();
  const log = await OutputLog.create(at, { maxBytes: 256 * KIB, budget, fileSystem: fullDisk(() => full), delayMs: 0 });
  for (const text of ['one', 'two', 'three']) {
    full = text === 'two';
    void log.append('stdout', bytes(text));
    await new Promise(setImmediate);
    await budget.turn(async () => undefined);
  }
  await log.close();
  const recovered = await OutputLog.recover(at, { maxBytes: 256 * KIB, budget: new LogBudget(256 * KIB) });
  for (const each of [log, recovered!]) expect(await readText(each)).toEqual(['stdout:one', 'gap:3', 'stdout:three']);
});

it('what a failing disk does not cut off a file goes on to count', async () => {
  let failing = false;
  const budget = new LogBudget(256 * KIB);
  const at = directory();
  const fileSystem = fullDisk(
    () => failing,
    () => failing,
  );
  const log = await OutputLog.create(at, { maxBytes: 256 * KIB, budget, fileSystem, delayMs: 0 });
  // More than is kept, so that the last file overwrites an older one; it is not full.
  for (let written = 0; written < 297; written += 9) {
    void log.append('stdout', piece.subarray(0, 9 * KIB));
    await new Promise(setImmediate);
    await budget.turn(async () => undefined);
  }
  failing = true;
  void log.append('stdout', bytes('lost'));
  await log.close();
  const sizes = readdirSync(at).map((name) => statSync(join(at, name)).size);
  expect(budget.kept).toBe(sizes.reduce((sum, size) => sum + size, 0));
});

it('a server short of descriptors says so to readers, instead of a gap', async () => {
  let short = false;
  const limited: LogFileSystem = {
    ...fs,
    open: (...call) => (short ? Promise.reject(errno('EMFILE')) : fs.open(...call)),
  };
  const budget = new LogBudget(256 * KIB);
  const log = await OutputLog.create(directory(), { maxBytes: 256 * KIB, budget, fileSystem: limited });
  void log.append('stdout', bytes('text'));
  await log.close();
  short = true;
  await expect(log.read(0, 10)).rejects.toMatchObject({
    code: 'RESOURCE_EXHAUSTED',
    message: 'the output of the process could not be read: the server is short of file descriptors',
  });
  short = false;
  expect(await readText(log)).toEqual(['stdout:text']);
});

function errno(code: string): Error {
  return Object.assign(new Error(code), { code });
}

function fullDisk(full: () => boolean, keepsSizes = () => false): LogFileSystem {
  return {
    ...fs,
    open: async (...call) => {
      const handle = await fs.open(...call);
      const write = handle.write.bind(handle);
      handle.write = (async (...data: Parameters<typeof write>) => {
        if (full()) throw errno('ENOSPC');
        return write(...data);
      }) as typeof handle.write;
      const truncate = handle.truncate.bind(handle);
      handle.truncate = async (length) => {
        if (keepsSizes()) throw errno('EIO');
        await truncate(length);
      };
      return handle;
    },
  };
}
