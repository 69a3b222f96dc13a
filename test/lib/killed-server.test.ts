import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { takeLockOfDead } from '../../lib/killed-server.ts';
import { silentLog } from '../../lib/log.ts';
import { LockedError } from '../../lib/metadata/lock.ts';

let directory: string;
let lock: string;
let holder: ChildProcess;

/** A process that has the lock and has written a line. */
async function hold(...command: string[]): Promise<void> {
  holder = spawn('flock', ['--no-fork', lock, ...command], { cwd: '/' });
  await once(holder.stdout as NodeJS.ReadableStream, 'data');
}

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'killed-server-'));
  lock = join(directory, 'lock');
});
afterEach(() => {
  holder.kill('SIGKILL');
  rmSync(directory, { recursive: true });
});

const take = () => takeLockOfDead(lock, [], silentLog);

it('a server refuses the lock of a live process, also if it is stopped', async () => {
  await hold('/bin/sh', '-c', 'echo; exec sleep 1000');
  await expect(take()).rejects.toThrow(LockedError);
  holder.kill('SIGSTOP');
  await expect(take()).rejects.toThrow(LockedError);
  expect(holder.kill(0)).toBe(true);
});

it('a server takes the lock of an exiting process, even if freeing its memory takes long', async () => {
  const large = 'const b = Buffer.alloc(700 << 20, 1); console.log(b.length); setInterval(() => {}, 1 << 30)';
  await hold(process.execPath, '-e', large);
  holder.kill('SIGKILL');
  (await take())();
});
