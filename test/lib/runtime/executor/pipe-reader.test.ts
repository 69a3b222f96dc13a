import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { constants, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ReadPace } from '../../../../lib/read-pace.ts';
import { sharedView } from '../../../../lib/recycled-buffers.ts';
import { newQuota, newScratch, PipeReader } from '../../../../lib/runtime/executor/pipe-reader.ts';
import { until } from '../bwrap/fixture.ts';

const MIB = 1_048_576;
let folder: string;
let path: string;
const children: ChildProcess[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'paddock-pipe-'));
  path = join(folder, 'pipe');
  execFileSync('mkfifo', [path]);
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

const open = () => openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
const write = (script: string) => {
  const child = spawn('/bin/sh', ['-c', `exec >"$1"; ${script}`, 'sh', path], { stdio: 'ignore' });
  children.push(child);
  return child;
};

describe('PipeReader', () => {
  it('reads at most the capacity of a pipe at once, however fast others write', async () => {
    const reader = new PipeReader(open(), newScratch());
    for (let writer = 0; writer < 4; writer++) write('exec cat /dev/zero');
    let most = 0;
    for (let round = 0; round < 50; round++) {
      let bytes = 0;
      reader.sink = (data) => {
        bytes += data.length;
        return false;
      };
      const quota = newQuota();
      while (!reader.drain(quota));
      most = Math.max(most, bytes);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(MIB + 65_536);
    reader.close();
  });

  it('reads at most as many pieces at once as a pipe can hold, however small they are', async () => {
    const reader = new PipeReader(open(), newScratch());
    let pieces = 0;
    // Packets (pipe(2), O_DIRECT): each read returns one of them, so that reading ends only with the writing.
    write(`exec python3 -c '
import fcntl, os
fcntl.fcntl(1, fcntl.F_SETFL, os.O_DIRECT | os.O_WRONLY)
while True: os.write(1, b"x")'`);
    await until('something is read', () => {
      pieces = 0;
      reader.sink = () => {
        pieces++;
        return false;
      };
      const quota = newQuota();
      while (!reader.drain(quota));
      return pieces > 1;
    });
    expect(pieces).toBeLessThanOrEqual(257);
    reader.close();
  });

  it('returns all available data, and whether the pipe is then empty', async () => {
    const reader = new PipeReader(open(), newScratch());
    let bytes = 0;
    reader.sink = (data) => {
      bytes += data.length;
      return false;
    };
    const writer = write('printf %060000d 0');
    await new Promise((resolve) => writer.once('exit', resolve));
    const quota = newQuota();
    while (!reader.drain(quota));
    expect(quota.emptied).toBe(true);
    expect(bytes).toBe(60_000);
    reader.close();
    await reader.ended;
  });
});

it('asks once for a larger pipe, when full reads of the usual one have brought a MiB, and tells its end', async () => {
  const grown: number[] = [];
  let released = 0;
  const fd = open();
  const reader = new PipeReader(fd, newScratch(), undefined, (each) => {
    grown.push(each);
    return () => void released++;
  });
  let bytes = 0;
  let before = 0;
  reader.sink = ({ length }) => {
    if (grown.length === 0) before += length;
    bytes += length;
    return true;
  };
  // Writes larger than the pipe: those of 'head' are small, so that a read can find the pipe half full.
  write('dd if=/dev/zero bs=1M count=8');
  await until('all was read', () => bytes === 8 * MIB);
  expect(grown).toEqual([fd]);
  expect(before).toBeGreaterThanOrEqual(MIB);
  reader.close();
  await reader.ended;
  expect(released).toBe(1);
});

it('reads from a larger pipe into pieces that a receiver may keep, and gives the others back', async () => {
  const resize = 'import fcntl, os, sys; fcntl.fcntl(os.open(sys.argv[1], os.O_RDONLY | os.O_NONBLOCK), 1031, 262144)';
  const reader = new PipeReader(open(), newScratch(), undefined, () => {
    execFileSync('python3', ['-c', resize, path]);
    return () => {};
  });
  const digest = createHash('sha256');
  const kept: Buffer[] = [];
  const used = new Set<ArrayBufferLike>();
  let bytes = 0;
  reader.sink = (data, piece) => {
    bytes += data.length;
    if (piece !== undefined) used.add(piece.buffer);
    // Every second one is kept, up to a limit.
    kept.push(
      piece !== undefined && kept.length % 2 === 0 && kept.length < 100
        ? sharedView(piece, 0, data.length)
        : Buffer.from(data),
    );
    return true;
  };
  write(`exec python3 -c '
import os
for i in range(64): os.write(1, bytes([i]) * 1048576)'`);
  await until('all was read', () => bytes === 64 * MIB);
  for (const data of kept) digest.update(data);
  const expected = createHash('sha256');
  for (let value = 0; value < 64; value++) expected.update(Buffer.alloc(MIB, value));
  expect(digest.digest('hex')).toBe(expected.digest('hex'));
  expect(used.size).toBeGreaterThan(1);
  expect(used.size).toBeLessThan(60);
  reader.close();
  await reader.ended;
});

describe('ReadPace', () => {
  /** A pace whose turns the test starts. */
  const manual = (bytes: number) => {
    const due: (() => void)[] = [];
    const pace = new ReadPace(bytes, (next) => due.push(next));
    return { pace, turn: () => due.shift()?.(), due };
  };
  const reader = () => {
    const state = { resumed: 0, resume: () => void state.resumed++ };
    return state;
  };

  it('lets all readers read until the bytes of a turn are used up, without waiting for a turn', () => {
    const { pace, due } = manual(200_000);
    expect(pace.took(reader(), 100_000)).toBe(true);
    expect(due).toHaveLength(0);
    expect(pace.took(reader(), 100_000)).toBe(false);
    expect(due).toHaveLength(1);
  });

  it('lets later readers read in the next turns, in order, a limited number in each', () => {
    const { pace, turn } = manual(524_288);
    const readers = Array.from({ length: 5 }, reader);
    for (const each of readers) expect(pace.took(each, 524_288)).toBe(false);
    const resumed = () => readers.map((each) => each.resumed);
    turn();
    expect(resumed()).toEqual([1, 1, 0, 0, 0]);
    turn();
    expect(resumed()).toEqual([1, 1, 1, 1, 0]);
    turn();
    expect(resumed()).toEqual([1, 1, 1, 1, 1]);
  });

  it('queues a reader that continues behind those that already wait', () => {
    const { pace, turn } = manual(65_536);
    const [first, second] = [reader(), reader()];
    pace.took(first, 65_536);
    pace.took(second, 65_536);
    turn();
    expect(pace.took(first, 1)).toBe(false);
    turn();
    expect([first.resumed, second.resumed]).toEqual([1, 1]);
  });

  it('counts reads as well as bytes', () => {
    const { pace } = manual(100_000);
    let reads = 0;
    while (pace.took(reader(), 1)) reads++;
    expect(reads).toBeLessThan(30);
  });

  it('allows no other read in the turn of a slow one', () => {
    const { pace, turn } = manual(1_000_000);
    const readers = Array.from({ length: 3 }, reader);
    for (const each of readers) expect(pace.took(each, 1, true)).toBe(false);
    turn();
    expect(readers.map((each) => each.resumed)).toEqual([1, 0, 0]);
  });

  it('does not resume a reader that left', () => {
    const { pace, turn } = manual(1);
    const gone = reader();
    pace.took(gone, 1);
    expect(pace.leave(gone)).toBe(true);
    turn();
    expect(gone.resumed).toBe(0);
  });
});
