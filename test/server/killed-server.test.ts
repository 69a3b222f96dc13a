import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { bundle } from '../../esbuild.config.mjs';
import { unmountAll } from '../../lib/fuse/connection/mount.ts';
import { takeLock } from '../../lib/metadata/lock.ts';
import { Server, State } from '../contract/server.ts';
import { Api } from './api.ts';

let state: State;
let child: ChildProcess | undefined;
let server: Server | undefined;

beforeEach(async () => {
  state = await State.create();
});
afterEach(async () => {
  await server?.stop();
  // Where the test failed: the stuck server must not outlive it.
  if (child?.exitCode === null && child.signalCode === null) {
    child.kill('SIGKILL');
    await unmountAll(join(state.directory, 'mounts/fs'));
  }
  expect(await state.leftovers()).toEqual([]);
  await state.remove();
});

/** The kernel functions in which the threads of a process wait, sorted. */
function waitsOf(pid: number): string[] {
  const threads = readdirSync(`/proc/${pid}/task`);
  return threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/wchan`, 'latin1')).sort();
}

it('a start after a kill -9 that left a thread blocked in the kernel ends the old server, and logs it', async () => {
  const outfile = join(state.directory, 'breaking.mjs');
  await bundle({ entry: 'test/lib/breaking-server.ts', outfile });
  child = spawn(process.execPath, [outfile, '-config', await state.writeConfig('bwrap', {})], {
    cwd: '/',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const pid = child.pid as number;
  const [line] = await once(child.stdout as NodeJS.ReadableStream, 'data');
  const id = String(line).trim();
  // A program waits for the request worker and has a directory locked; the notifier waits for that lock.
  await expect.poll(() => state.processes().some((line) => /: ls hold-the-lock/.test(line))).toBe(true);
  await expect.poll(() => waitsOf(pid), { timeout: 30_000 }).toContain('fuse_reverse_inval_entry');
  child.kill('SIGKILL');
  // The first thread, a zombie, and the notifier.
  await expect.poll(() => waitsOf(pid), { timeout: 30_000 }).toEqual(['0', 'fuse_reverse_inval_entry']);
  expect(() => takeLock(join(state.directory, 'metadata.json.lock'))).toThrow('another server runs on this state');

  server = await Server.start(state);
  expect(server.log.join('\n')).toMatch(new RegExp(`"pid":${pid},.*a server that was killed could not end`));
  await exited;
  const api = new Api(server.httpAddress);
  expect((await api.sandbox(id)).status).toBe('SANDBOX_RUNNING');
  expect((await api.post(`/v1/sandboxes/${id}/exec`, { command: 'true' })).status).toBe(200);
});
