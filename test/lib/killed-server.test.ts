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

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'killed-server-'));
  lock = join(directory, 'lock');
  holder = spawn('flock', ['--no-fork', lock, '/bin/sh', '-c', 'echo; exec sleep 1000'], { cwd: '/' });
  await once(holder.stdout as NodeJS.ReadableStream, 'data');
});
afterEach(() => {
  holder.kill('SIGKILL');
  rmSync(directory, { recursive: true });
});

const take = () => takeLockOfDead(lock, [], silentLog);

it('refuses the lock of a process that lives, be it stopped', async () => {
  await expect(take()).rejects.toThrow(LockedError);
  holder.kill('SIGSTOP');
  await expect(take()).rejects.toThrow(LockedError);
  expect(holder.kill(0)).toBe(true);
});

it('takes the lock of a process that is just ending', async () => {
  holder.kill('SIGKILL');
  (await take())();
});
