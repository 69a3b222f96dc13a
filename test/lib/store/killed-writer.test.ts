import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hostDisk } from '../../../lib/disk/host-disk.ts';
import { Cache } from '../../../lib/store/cache.ts';
import { ObjectStore } from '../../../lib/store/object-store.ts';
import { OpenFiles } from '../../../lib/store/open-files.ts';
import { StoreReader } from '../../../lib/store/reader/store-reader.ts';
import { hashKey, type Key } from '../../../lib/trees/format/keys.ts';
import { putVersion, readVersion } from './garbage/stored-trees.ts';

const KILLS = Number(process.env.PADDOCK_KILLS ?? 4);
const parts = () => ({ disk: hostDisk, files: new OpenFiles(hostDisk, 8), cache: new Cache<Key, never>(100_000) });

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'paddock-store-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** What version `n` has; large contents now and then. */
function filesOf(n: number): Record<string, string> {
  const files: Record<string, string> = { [`d${n % 7}/own`]: `own ${n}`, large: 'x'.repeat(n % 9 === 0 ? 70_000 : 10) };
  for (let each = 0; each < 10; each++) files[`d${each}/shared`] = `shared ${each} ${Math.floor(n / 5)}`;
  return files;
}

/** Puts versions for as long as it lives; says which are durable. Those of every tenth number stay, others go as garbage. */
const WRITER = `
  import { writeSync } from 'node:fs';
  import { hostDisk } from '../../../lib/disk/host-disk.ts';
  import { Cache } from '../../../lib/store/cache.ts';
  import { Collection } from '../../../lib/store/garbage/collection.ts';
  import { ObjectStore } from '../../../lib/store/object-store.ts';
  import { OpenFiles } from '../../../lib/store/open-files.ts';
  import { putVersion, rootsOf } from './garbage/stored-trees.ts';
  ${filesOf.toString()}
  const [folder, from, pins] = [process.argv[2], Number(process.argv[3]), JSON.parse(process.argv[4])];
  const parts = { disk: hostDisk, files: new OpenFiles(hostDisk), cache: new Cache(100_000), sealAt: { objects: 40, bytes: 1e6 } };
  const store = from === 0 ? ObjectStore.create(parts, folder, 7n) : ObjectStore.open(parts, folder);
  const kept = new Map(pins.map(([n, hex]) => [n, '\\x01' + Buffer.from(hex, 'hex').toString('latin1')]));
  for (let n = from; ; n++) {
    const key = putVersion(store, n + 1, filesOf(n));
    kept.set(n, key);
    writeSync(1, n + ' ' + Buffer.from(key, 'latin1').toString('hex', 1) + '\\n');
    if (n % 4 === 3) for (const _ of store.mergeIndexes());
    if (n % 6 !== 5) continue;
    for (const old of [...kept.keys()].slice(0, -2)) if (old % 10 !== 0) kept.delete(old);
    const collection = new Collection(store, hostDisk, () => rootsOf(Object.fromEntries(kept)));
    const steps = collection.steps();
    let step = steps.next();
    while (!step.done) step = steps.next();
    collection.remove(step.value);
  }
`;

describe('a store on the disk of this machine', () => {
  it('has after each kill -9 of its writer what was durable, for a reader that was there all the time', {
    timeout: 60_000 + KILLS * 5000,
  }, async () => {
    const writer = join(folder, 'writer.mjs');
    const path = join(folder, 'store');
    mkdirSync(path);
    const stdin = { contents: WRITER, resolveDir: import.meta.dirname, loader: 'ts' as const };
    await build({ stdin, outfile: writer, bundle: true, platform: 'node', format: 'esm', logLevel: 'error' });
    const pinned = new Map<number, Key>();
    const files = parts();
    let [reader, next]: [StoreReader | undefined, number] = [undefined, 0];
    for (let kill = 0; kill < KILLS; kill++) {
      const pins = [...pinned].map(([n, key]) => [n, Buffer.from(key, 'latin1').toString('hex', 1)]);
      const child = spawn(process.execPath, [writer, path, String(next), JSON.stringify(pins)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const end = next + 5 + ((kill * 7919) % 20);
      let last: [number, Key] | undefined;
      try {
        for await (const line of createInterface(child.stdout)) {
          const [n, hex = ''] = line.split(' ');
          last = [Number(n), hashKey(Buffer.from(hex, 'hex'))];
          reader ??= new StoreReader(files, path);
          if (last[0] % 10 === 0) pinned.set(...last);
          for (const [each, key] of [...pinned].slice(-3)) expect(readVersion(reader, key)).toEqual(filesOf(each));
          if (last[0] === end) child.kill('SIGKILL');
        }
      } finally {
        child.kill('SIGKILL');
      }
      next = last![0] + 1;
      for (const [n, key] of [...pinned, last!]) expect(readVersion(reader!, key)).toEqual(filesOf(n));
    }
    expect(readdirSync(join(path, 'packs')).some((name) => name.endsWith('.index'))).toBe(true);
    reader!.close();
    const store = ObjectStore.open(parts(), path);
    for (const [n, key] of pinned) expect(readVersion(store, key)).toEqual(filesOf(n));
    store.close();
  });

  it.skipIf(process.getuid?.() !== 0)('that is full keeps what was durable, and takes more when there is room', () => {
    const small = join(folder, 'small');
    mkdirSync(small);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', small]);
    try {
      const path = join(small, 'store');
      mkdirSync(path);
      const store = ObjectStore.create({ ...parts(), sealAt: { objects: 200, bytes: 1e6 } }, path, 7n);
      const reader = new StoreReader(parts(), path);
      const kept = new Map<number, Key>();
      const put = (n: number) => kept.set(n, putVersion(store, n + 1, filesOf(n)));
      const filler = hostDisk.open(join(small, 'filler'), 'create');
      hostDisk.pwrite(filler, Buffer.alloc(500_000), 0);
      expect(() => {
        for (let n = 0; ; n++) put(n);
      }).toThrow('ENOSPC');
      expect(kept.size).toBeGreaterThan(5);
      for (const [n, key] of kept)
        for (const from of [store, reader]) expect(readVersion(from, key)).toEqual(filesOf(n));
      hostDisk.truncate(filler, 0);
      hostDisk.close(filler);
      put(1000);
      store.close();
      const again = ObjectStore.open(parts(), path);
      for (const [n, key] of kept)
        for (const from of [again, reader]) expect(readVersion(from, key)).toEqual(filesOf(n));
      for (const each of [again, reader]) each.close();
    } finally {
      execFileSync('umount', [small]);
    }
  });
});
