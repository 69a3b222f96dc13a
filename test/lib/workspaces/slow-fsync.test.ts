import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { bundleEntry } from '../fuse/bundle-entry.ts';
import { type Mounted, mounted, shell } from '../fuse/mounted.ts';
import { HeldSyncs } from './held-syncs.ts';
import { ALL_WRITE } from './sandbox.ts';

const syncs = HeldSyncs.inMemory();
let bundle: Awaited<ReturnType<typeof bundleEntry>>;
let mount: Mounted;
let home: string;
const paths: string[] = [];

beforeAll(async () => {
  bundle = await bundleEntry('../workspaces/slow-sync-entry.ts');
  home = mkdtempSync(join(tmpdir(), 'slow-fsync-'));
  mkdirSync(join(home, 'base'));
  writeFileSync(join(home, 'base', 'file'), 'of the codebase');
  mount = await mounted(bundle.entry);
  for (const id of ['sb_1', 'sb_2']) {
    const path = await mount.workspaces.attach({
      ...{ id, codebaseId: 'cb', base: join(home, 'base'), delta: join(home, id) },
      ...{ uid: 0, rules: ALL_WRITE, maxBytes: 0, maxFiles: 0 },
    });
    paths.push(path);
  }
});
afterAll(async () => {
  syncs.fail(undefined);
  syncs.release();
  await mount.remove();
  await bundle.remove();
  rmSync(home, { recursive: true });
});

const WITHIN = { timeout: 30_000, interval: 5 };
const SYNCED = 'dd if=/dev/zero of="$1/large" bs=70000 count=1 conv=fsync 2>&1';

it('a disk that holds the fsync of one sandbox holds no request of another one', async () => {
  syncs.hold('fsyncSync');
  const written = shell(SYNCED, paths[0]!);
  let ended = false;
  void written.then(() => (ended = true));
  await expect.poll(() => syncs.begun, WITHIN).toBe(1);
  expect(await shell('cat "$1/file"; echo new >"$1/new"; ls "$1"', paths[1]!)).toBe('of the codebasefile\nnew\n');
  expect(await mount.workspaces.usage('sb_2')).toEqual({ bytes: 4, files: expect.any(Number) });
  expect(ended).toBe(false);
  syncs.release();
  expect(await written).toMatch(/70000 bytes/);
});

it('an fsync that fails on the disk fails in the sandbox', async () => {
  syncs.fail('fsyncSync');
  await expect(shell(SYNCED, paths[0]!)).rejects.toMatchObject({
    stdout: expect.stringMatching(/Input\/output error/),
  });
  syncs.fail(undefined);
  expect(await shell(SYNCED, paths[0]!)).toMatch(/70000 bytes/);
});

it('an fsync whose thread ends fails, and neither the mount nor the next fsync', async () => {
  syncs.kill('fsyncSync');
  await expect(shell(SYNCED, paths[0]!)).rejects.toMatchObject({
    stdout: expect.stringMatching(/Input\/output error/),
  });
  // The report of the thread's end comes by itself.
  await expect.poll(() => mount.logged, WITHIN).toEqual([expect.stringMatching(/a sync thread ended/)]);
  mount.logged.splice(0);
  expect(await shell(SYNCED, paths[0]!)).toMatch(/70000 bytes/);
  expect(await shell('cat "$1/file"', paths[1]!)).toBe('of the codebase');
  expect(mount.logged).toEqual([]);
});

it('a disk that holds a durable file which outgrows its slot holds no request of another sandbox', async () => {
  expect(await shell('dd if=/dev/zero of="$1/grows" bs=65536 count=1 conv=fsync 2>&1', paths[0]!)).toMatch(
    /65536 bytes/,
  );
  syncs.hold('fdatasyncSync');
  const grown = shell('head -c 4464 /dev/zero >>"$1/grows"; stat -c %s "$1/grows"', paths[0]!);
  let ended = false;
  void grown.then(() => (ended = true));
  await expect.poll(() => syncs.begun, WITHIN).toBe(1);
  expect(await shell('cat "$1/file"', paths[1]!)).toBe('of the codebase');
  expect(ended).toBe(false);
  syncs.release();
  expect(await grown).toBe('70000\n');
});

it('a mount is removed while its disk ends an fsync', async () => {
  const other = await mounted(bundle.entry);
  const path = await other.workspaces.attach({
    ...{ id: 'sb_1', codebaseId: 'cb', base: join(home, 'base'), delta: join(home, 'held') },
    ...{ uid: 0, rules: ALL_WRITE, maxBytes: 0, maxFiles: 0 },
  });
  syncs.hold('fsyncSync');
  const written = shell(SYNCED, path).catch((error: { stdout: string }) => error.stdout);
  await expect.poll(() => syncs.begun, WITHIN).toBe(1);
  expect(await shell('cat "$1/file"', path)).toBe('of the codebase');
  syncs.release();
  await Promise.all([other.remove(), written]);
  expect(other.logged).toEqual([]);
});

it('a process whose disk does not end an fsync exits all the same, and leaves no mount', async () => {
  const server = await bundleEntry('../workspaces/hung-sync-entry.ts');
  const own = join(home, 'hung');
  mkdirSync(join(own, 'base'), { recursive: true });
  const child = spawn(process.execPath, [server.file, own], { stdio: ['pipe', 'pipe', 'ignore'], cwd: '/' });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [path] = (await once(child.stdout, 'data')) as [Buffer];
  const written = shell(SYNCED, path.toString().trim()).catch(() => 'failed');
  await expect.poll(() => existsSync(join(own, 'begun')), WITHIN).toBe(true);
  const exited = once(child, 'exit');
  child.stdin.end('exit\n');
  expect(await exited).toEqual([null, 'SIGKILL']);
  expect(await written).toBe('failed');
  expect(readFileSync('/proc/self/mounts', 'utf8')).not.toContain(own);
  await server.remove();
});
