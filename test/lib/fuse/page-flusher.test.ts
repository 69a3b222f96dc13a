import { execFileSync, spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { PageFlusher } from '../../../lib/fuse/connection/page-flusher.ts';

it('a child that cannot be started keeps nobody waiting, then or later', async () => {
  let started = 0;
  const flusher = new PageFlusher(() => {
    if (++started <= 12) throw new Error('no descriptor is free');
    return spawn('/bin/sh', ['-c', 'while read -r path; do echo 1; done'], { stdio: ['pipe', 'pipe', 'ignore'] });
  });
  onTestFinished(() => flusher.close());
  for (let round = 0; round < 2; round++) {
    const flushes = Array.from({ length: 6 }, () => flusher.flush(['/a', '/b']));
    expect(await Promise.all(flushes)).toEqual(Array(6).fill(false));
  }
  expect(await flusher.flush(['/a', '/b'])).toBe(true);
});

it('files that are not written back delay no other call', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'flusher-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  // The open of a FIFO waits for a writer.
  const stuck = Array.from({ length: 8 }, (_, index) => join(directory, `stuck ${index}`));
  execFileSync('mkfifo', stuck);
  // Without a writer the children would stay after a failure.
  onTestFinished(() => {
    for (const path of stuck) closeSync(openSync(path, 'r+'));
  });
  const file = join(directory, 'file');
  writeFileSync(file, '');
  const flusher = new PageFlusher();
  onTestFinished(() => flusher.close());
  const waiting = stuck.map((path) => flusher.flush([path]));
  expect(await flusher.flush([file])).toBe(true);
  for (const path of stuck) writeFileSync(path, '');
  expect(new Set(await Promise.all(waiting))).toEqual(new Set([true]));
});
