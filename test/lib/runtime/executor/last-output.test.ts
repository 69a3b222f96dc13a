import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { LastOutput } from '../../../../lib/runtime/executor/last-output.ts';
import { newScratch, openPipeReader } from '../../../../lib/runtime/executor/pipe-reader.ts';
import { TurnTime } from '../../../../lib/turn-time.ts';

const MIB = 1_048_576;

it('the last output of a command ends, although others write without end and nobody takes it', async () => {
  const folder = mkdtempSync('/tmp/paddock-last-');
  const readers = ['out', 'err'].map((name) => {
    const path = join(folder, name);
    execFileSync('mkfifo', [path]);
    const reader = openPipeReader(path, 'read', newScratch());
    const writer = spawn('/bin/sh', ['-c', 'exec cat /dev/zero >"$1"', 'sh', path], { stdio: 'ignore' });
    onTestFinished(() => {
      writer.kill('SIGKILL');
      reader.close();
    });
    return reader;
  });
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [out, err] = readers;
  let bytes = 0;
  for (const reader of readers) {
    reader.sink = (data) => {
      bytes += data.length;
      return false;
    };
  }
  await expect.poll(() => bytes).toBeGreaterThan(0);
  await new LastOutput({ out: out!, err: err! }, new TurnTime(4)).read(true, () => bytes >= 2 * MIB);
  // One round may begin just below the limit.
  expect(bytes).toBeLessThanOrEqual(4 * MIB + 2 * 65_536);
});
