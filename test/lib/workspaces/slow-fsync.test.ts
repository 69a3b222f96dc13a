import fs, { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Deferred } from '../../../lib/fuse/connection/deferred.ts';
import { bundleEntry } from '../fuse/bundle-entry.ts';
import { type Mounted, mounted, shell } from '../fuse/mounted.ts';
import { ALL_WRITE } from './sandbox.ts';

const { fdatasync, fsync } = fs;

let bundle: Awaited<ReturnType<typeof bundleEntry>>;
let mount: Mounted;
let home: string;
const paths: string[] = [];

beforeAll(async () => {
  bundle = await bundleEntry('../workspaces/worker-entry.ts');
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
  replaceFsync(fsync);
  replaceFdatasync(fdatasync);
  await mount.remove();
  await bundle.remove();
  rmSync(home, { recursive: true });
});

function replaceFsync(replacement: unknown): void {
  (fs as { fsync: unknown }).fsync = replacement;
  syncBuiltinESMExports();
}

function replaceFdatasync(replacement: unknown): void {
  (fs as { fdatasync: unknown }).fdatasync = replacement;
  syncBuiltinESMExports();
}

const SYNCED = 'dd if=/dev/zero of="$1/large" bs=70000 count=1 conv=fsync 2>&1';

it('a disk that holds the fsync of one sandbox holds no request of another one', async () => {
  const begun = new Deferred<void>();
  const held = new Deferred<void>();
  replaceFsync((fd: number, done: (error: Error | null) => void) => {
    begun.resolve();
    void held.promise.then(() => fsync(fd, done));
  });
  const written = shell(SYNCED, paths[0]!);
  let ended = false;
  void written.then(() => (ended = true));
  await begun.promise;
  expect(await shell('cat "$1/file"; echo new >"$1/new"; ls "$1"', paths[1]!)).toBe('of the codebasefile\nnew\n');
  expect(await mount.workspaces.usage('sb_2')).toEqual({ bytes: 4, files: expect.any(Number) });
  expect(ended).toBe(false);
  held.resolve();
  expect(await written).toMatch(/70000 bytes/);
});

it('an fsync that fails on the disk fails in the sandbox', async () => {
  replaceFsync((_: number, done: (error: Error) => void) =>
    done(Object.assign(new Error('EIO'), { code: 'EIO', errno: -5 })),
  );
  await expect(shell(SYNCED, paths[0]!)).rejects.toMatchObject({
    stdout: expect.stringMatching(/Input\/output error/),
  });
  replaceFsync(fsync);
  expect(await shell(SYNCED, paths[0]!)).toMatch(/70000 bytes/);
});

it('a disk that holds a durable file which outgrows its slot holds no request of another sandbox', async () => {
  expect(await shell('dd if=/dev/zero of="$1/grows" bs=65536 count=1 conv=fsync 2>&1', paths[0]!)).toMatch(
    /65536 bytes/,
  );
  const begun = new Deferred<void>();
  const held = new Deferred<void>();
  replaceFdatasync((fd: number, done: (error: Error | null) => void) => {
    begun.resolve();
    void held.promise.then(() => fdatasync(fd, done));
  });
  const grown = shell('head -c 4464 /dev/zero >>"$1/grows"; stat -c %s "$1/grows"', paths[0]!);
  let ended = false;
  void grown.then(() => (ended = true));
  await begun.promise;
  expect(await shell('cat "$1/file"', paths[1]!)).toBe('of the codebase');
  expect(ended).toBe(false);
  held.resolve();
  expect(await grown).toBe('70000\n');
});
