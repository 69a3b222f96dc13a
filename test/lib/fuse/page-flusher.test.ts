import { spawn } from 'node:child_process';
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
