import { existsSync, readdirSync, readlinkSync, rmSync, statSync } from 'node:fs';
import * as fs from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { LogBudget } from '../../../lib/output-log/budget.ts';
import { OutputLog } from '../../../lib/output-log/output-log.ts';
import { bytes, logDirectories, readText } from './log-directory.ts';

const directory = logDirectories();
const MIB = 1024 * 1024;
const create = (maxBytes = MIB, budget = new LogBudget(64 * MIB)) =>
  OutputLog.create(directory(), { maxBytes, budget });
const never = new AbortController().signal;

it('output is read in order, with its streams, from memory and from the disk', async () => {
  const at = directory();
  const log = await OutputLog.create(at, { maxBytes: MIB, budget: new LogBudget(MIB) });
  void log.append('stdout', bytes('one'));
  void log.append('stdout', bytes('two'));
  void log.append('stderr', bytes('three'));
  const all = [
    { stream: 'stdout', offset: 0, data: bytes('onetwo') },
    { stream: 'stderr', offset: 6, data: bytes('three') },
  ];
  expect(await log.read(0, 100)).toEqual({ gap: 0, pieces: all, next: 11 });
  await log.close();
  expect(await log.read(0, 100)).toEqual({ gap: 0, pieces: all, next: 11 });
  expect(await log.read(4, 3)).toEqual({
    gap: 0,
    pieces: [
      { stream: 'stdout', offset: 4, data: bytes('wo') },
      { stream: 'stderr', offset: 6, data: bytes('t') },
    ],
    next: 7,
  });
  expect(await log.read(11, 100)).toEqual({ gap: 0, pieces: [], next: 11 });
  expect(log.position).toEqual({ first: 0, next: 11 });
  expect(statSync(at).mode & 0o777).toBe(0o700);
  expect(statSync(join(at, readdirSync(at)[0]!)).mode & 0o777).toBe(0o600);
});

it('pieces on both sides of a write become one in an answer', async () => {
  const log = await create();
  void log.append('terminal', bytes('a'));
  await expect.poll(() => log.read(0, 1).then(({ pieces }) => pieces.length)).toBe(1);
  void log.append('terminal', bytes('b'));
  expect((await log.read(0, 100)).pieces).toEqual([{ stream: 'terminal', offset: 0, data: bytes('ab') }]);
  await log.remove();
});

it.each([-1, 1.5, 4, Number.NaN])('an offset of %s in a log of 3 bytes is refused', async (offset) => {
  const log = await create();
  void log.append('stdout', bytes('abc'));
  await expect(log.read(offset, 10)).rejects.toMatchObject({
    code: 'OUT_OF_RANGE',
    message: 'offset must be 0 to 3, the number of bytes of output so far',
  });
  await log.remove();
});

it('above its size a log drops the oldest output and a reader behind gets a gap, then right bytes', async () => {
  const at = directory();
  const log = await OutputLog.create(at, { maxBytes: 64 * 1024, budget: new LogBudget(MIB) });
  const all = Buffer.from(Array.from({ length: 300_000 }, (_, index) => (index * 7 + (index >> 8)) & 255));
  for (let from = 0; from < all.length; from += 5000) await log.append('stdout', all.subarray(from, from + 5000));
  await log.close();
  const { first, next } = log.position;
  expect(next).toBe(300_000);
  expect(next - first).toBeGreaterThan(48 * 1024);
  const onDisk = readdirSync(at).reduce((sum, name) => sum + statSync(join(at, name)).size, 0);
  expect(onDisk).toBeLessThanOrEqual(64 * 1024);
  const { gap, pieces } = await log.read(100, MIB);
  expect(gap).toBe(first - 100);
  expect(pieces).toHaveLength(1);
  expect(pieces[0]!.data.equals(all.subarray(first))).toBe(true);
});

it('single bytes of alternating streams count with their records, and an answer has at most 1,024 pieces', async () => {
  const at = directory();
  const log = await OutputLog.create(at, { maxBytes: 64 * 1024, budget: new LogBudget(MIB) });
  const byte = bytes('x');
  for (let index = 0; index < 30_000; index++) await log.append(index % 2 ? 'stdout' : 'stderr', byte);
  await log.close();
  expect(readdirSync(at).reduce((sum, name) => sum + statSync(join(at, name)).size, 0)).toBeLessThanOrEqual(64 * 1024);
  const { first, next } = log.position;
  expect(next - first).toBeGreaterThan(10_000);
  let offset = first;
  while (offset < next) {
    const answer = await log.read(offset, MIB);
    expect(answer).toMatchObject({ gap: 0 });
    expect(answer.pieces.length).toBeLessThanOrEqual(1024);
    for (const { stream, offset: place } of answer.pieces) expect(stream).toBe(place % 2 ? 'stdout' : 'stderr');
    offset = answer.next;
  }
});

it('a writer that is faster than the disk has to wait, with less than 512 KiB not written', async () => {
  const log = await create(64 * MIB);
  const piece = Buffer.alloc(65_536, 'y');
  let waited = 0;
  for (let index = 0; index < 200; index++) {
    let given = 0;
    for (let full: unknown; full === undefined; given += piece.length) {
      full = log.append('stdout', piece);
      if (full !== undefined) {
        waited++;
        await full;
      }
    }
    expect(given).toBeLessThanOrEqual(4 * piece.length);
  }
  expect(waited).toBe(200);
  await log.remove();
});

it('a reader that is slower than the process, but keeps reading, gets all output', async () => {
  const log = await create(256 * 1024);
  const [total, size] = [4 * MIB, 16 * 1024];
  const reading = (async () => {
    let gaps = 0;
    for (let at = 0; at < total; ) {
      await log.more(at, never);
      const { gap, next } = await log.read(at, size);
      gaps += gap;
      at = next;
      for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
    }
    return gaps;
  })();
  for (let written = 0; written < total; written += size)
    await log.append('stdout', Buffer.alloc(size, written / size));
  await log.end();
  expect(await reading).toBe(0);
});

it('a reader that keeps pace is served from memory, however fast the process is', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const { log, reads } = await countingReads();
  const size = 4 * MIB;
  const writing = write(log, size);
  for (let at = 0; at < size; await turn()) at = (await log.read(at, 65_536)).next;
  await writing;
  expect(reads()).toEqual({ opened: 0, read: 0 });
  await log.remove();
});

it('a reader that goes on reads from the disk without a search', async () => {
  const { log, reads } = await countingReads();
  const size = 2 * MIB;
  await write(log, size);
  await log.close();
  for (let at = 0; at < size; ) at = (await log.read(at, 65_536)).next;
  // In files of 512 KiB, each of which begins with a search for its first block; the rest is read 128 KiB at a time.
  expect(reads().opened).toBeLessThanOrEqual(2 + size / (100 * 1024));
  expect(reads().read).toBeLessThan(reads().opened * 2 + 40);
  await log.remove();
});

it('waiting for output ends with its time', async () => {
  const log = await create();
  await log.more(0, never, 1);
  await log.more(0, never, 0);
  expect(log.position.next).toBe(0);
});

it('readers wait for output, for the end and for their signal', async () => {
  const log = await create();
  const seen: string[] = [];
  const leaving = new AbortController();
  const output = log.more(0, never).then(() => seen.push('output'));
  const left = log.more(0, leaving.signal).then(() => seen.push('left'));
  const end = log.more(3, never).then(() => seen.push('end'));
  leaving.abort();
  await left;
  expect(seen).toEqual(['left']);
  void log.append('stdout', bytes('abc'));
  await output;
  await log.end();
  await end;
  expect(seen).toEqual(['left', 'output', 'end']);
  await log.more(3, never);
  expect(log.append('stdout', bytes('late'))).toBeUndefined();
  expect(log.position.next).toBe(3);
});

it('a log that is idle for a second keeps no descriptor and no memory, and writes again', async () => {
  const at = directory();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const log = await OutputLog.create(at, { maxBytes: MIB, budget: new LogBudget(MIB) });
    const open = () => readdirSync('/proc/self/fd').filter((fd) => linkOf(fd).startsWith(`${at}/`)).length;
    const within = { timeout: 30_000 };
    void log.append('stdout', bytes('before'));
    await vi.waitFor(() => expect(open()).toBe(1), within);
    await vi.waitFor(() => {
      vi.advanceTimersByTime(1000);
      expect(open()).toBe(0);
    }, within);
    expect(await readText(log)).toEqual(['stdout:before']);
    void log.append('stdout', bytes(' after'));
    await log.close();
    expect(open()).toBe(0);
    expect(await readText(log)).toEqual(['stdout:before after']);
    expect(readdirSync(at)).toHaveLength(1);
  } finally {
    vi.useRealTimers();
  }
});

it('a log is removed while it is written and read: readers find a gap, and nothing is left', async () => {
  const at = directory();
  const budget = new LogBudget(8 * MIB);
  const log = await OutputLog.create(at, { maxBytes: MIB, budget });
  const piece = Buffer.alloc(65_536, 'z');
  for (let index = 0; index < 20; index++) await log.append('stdout', piece);
  const reading = Array.from({ length: 8 }, (_, index) => log.read(index * 65_536, MIB));
  void log.append('stdout', piece);
  const removing = log.remove();
  for (const answer of await Promise.all(reading)) {
    for (const { data } of answer.pieces) expect(data.every((byte) => byte === 122)).toBe(true);
  }
  await removing;
  expect(existsSync(at)).toBe(false);
  expect(budget.kept).toBe(0);
  expect(await log.read(0, 10)).toEqual({ gap: log.position.next, pieces: [], next: log.position.next });
  await log.remove();
});

it('a directory that someone else removed is a gap, and the log goes on', async () => {
  const at = directory();
  const log = await OutputLog.create(at, { maxBytes: MIB, budget: new LogBudget(MIB) });
  void log.append('stdout', bytes('gone'));
  await log.close();
  rmSync(at, { recursive: true });
  expect(await log.read(0, 10)).toEqual({ gap: 4, pieces: [], next: 4 });
});

function linkOf(fd: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return '';
  }
}

/** A log of 4 MiB, and how often its files were opened for reading and read. */
async function countingReads() {
  const counts = { opened: 0, read: 0 };
  const open: typeof fs.open = async (path, flags, mode) => {
    const handle = await fs.open(path, flags, mode);
    if (flags !== 'r') return handle;
    counts.opened++;
    const read = handle.read.bind(handle) as (...args: unknown[]) => unknown;
    Object.assign(handle, {
      read: (...args: unknown[]) => {
        counts.read++;
        return read(...args);
      },
    });
    return handle;
  };
  const options = { maxBytes: 4 * MIB, budget: new LogBudget(64 * MIB), fileSystem: { ...fs, open }, delayMs: 0 };
  return { log: await OutputLog.create(directory(), options), reads: () => counts };
}

/** As fast as the log permits. */
async function write(log: OutputLog, size: number): Promise<void> {
  const piece = Buffer.alloc(65_536, 'x');
  for (let done = 0; done < size; done += piece.length) await log.append('stdout', piece);
  await log.end();
}
