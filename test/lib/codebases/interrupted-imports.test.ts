import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { callersThread } from '../../../lib/codebases/archive/callers-thread.ts';
import type { Closable, SharedThreads, Threads } from '../../../lib/threads/thread-pool.ts';
import type { Transfers } from '../../../lib/transfers.ts';
import { archiveOf, at, id, imported, leftovers, names, packed, put, scratch, useImports } from './importing.ts';

useImports();

describe('an import into a codebase', () => {
  it('leaves the old state if the client vanishes', async () => {
    await put('kept');
    const cut = async function* () {
      yield packed().subarray(0, 3000);
      throw new Error('gone');
    };
    await expect(scratch.codebases.importArchive(id, 'replace', cut())).rejects.toThrow('gone');
    expect(names()).toEqual(['kept']);
    await expect.poll(leftovers).toEqual([]);
  });

  it('tells the watcher the changed and the removed paths', async () => {
    scratch.sandboxes = ['sb_x'];
    for (const path of ['gone/a', 'src/old', 'src/run.sh']) await put(path);
    scratch.told.length = 0;
    await imported(packed(), 'replace');
    expect(scratch.removing.sort()).toEqual(['gone', 'gone/a', 'src/old']);
    expect(scratch.told[0]).toMatch(/^changing (gone|src),(gone|src),link,/);
    scratch.told.length = 0;
    await imported(packed(), 'merge');
    expect(scratch.told[0]).toMatch(/^changing .*src\/run\.sh/);
  });

  it('needs no thread of those of imports to finish an interrupted one', async () => {
    const threads = callersThread();
    let places = 2;
    const take = async () => {
      if (places-- === 0) throw new Error('all threads of imports are in use');
      return threads.imports.of('').take();
    };
    scratch.archives = { ...threads, imports: { of: () => ({ take }) } };
    await scratch.open();
    const [first, second] = [archiveOf([['first', 'x']]), archiveOf([['second', 'x']])];
    let start = () => {};
    let proceed = () => {};
    const started = new Promise<void>((resolve) => {
      start = resolve;
    });
    const failed = new Promise<void>((resolve) => {
      proceed = resolve;
    });
    const waits = async function* () {
      yield second.subarray(0, 512);
      start();
      await failed;
      yield second.subarray(512);
    };
    const waiting = scratch.codebases.importArchive(id, 'merge', waits());
    await started;
    scratch.onChanging = () => {
      throw new Error('disk');
    };
    await expect(imported(first)).rejects.toThrow('disk');
    scratch.onChanging = () => {};
    proceed();
    await waiting;
    expect(names()).toEqual(['first', 'second']);
  });

  it('sends messages of a bounded size to and from its threads', async () => {
    const sizes: number[] = [];
    const watched = <T extends Closable>(threads: SharedThreads<T>): SharedThreads<T> => ({
      of: (owner) => watchedOf(threads.of(owner)),
    });
    const watchedOf = <T extends Closable>(threads: Threads<T>): Threads<T> => ({
      async take() {
        const { remote, release } = await threads.take();
        const get =
          (target: object, method: string) =>
          async (...args: unknown[]) => {
            for (const arg of args) if (arg instanceof Uint8Array) sizes.push(arg.buffer.byteLength);
            const value = await (Reflect.get(target, method) as (...args: unknown[]) => unknown)(...args);
            for (const list of [value, ...Object.values(value ?? {})]) if (Array.isArray(list)) sizes.push(list.length);
            return value;
          };
        const watching = new Proxy(remote, {
          get: (target, method) => (method === 'then' ? undefined : get(target, String(method))),
        });
        return { remote: watching, release };
      },
    });
    mkdirSync(at('many'));
    for (let n = 0; n < 3000; n++) writeFileSync(at(`many/${n}`), '');
    scratch.sandboxes = ['sb_x'];
    const threads = callersThread();
    scratch.archives = { ...threads, imports: watched(threads.imports), unzstd: watched(threads.unzstd) };
    await scratch.open();
    const bytes = execFileSync('zstd', ['-c'], { input: packed() });
    const pieces = async function* () {
      const large = Buffer.concat([bytes, Buffer.alloc(1_000_000)]);
      for (let from = 0; from < bytes.length; from += 1000) {
        yield large.subarray(from, Math.min(from + 1000, bytes.length));
      }
    };
    await scratch.codebases.importArchive(id, 'replace', pieces());
    expect(scratch.removing).toHaveLength(3001);
    expect(sizes.filter((size) => size === 1024).length).toBeGreaterThan(1);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(256 * 1024);
    const plain = async function* () {
      const large = Buffer.concat([packed(), Buffer.alloc(1_000_000)]);
      yield large.subarray(0, large.length - 1_000_000);
    };
    sizes.length = 0;
    await scratch.codebases.importArchive(id, 'replace', plain());
    expect(Math.max(...sizes)).toBeLessThanOrEqual(packed().length);
  });

  it('ends the transfer of an export that gets no thread', async () => {
    const take = () => Promise.reject(new Error('no thread'));
    scratch.archives = { ...callersThread(), exports: { of: () => ({ take }) } };
    let transfers = 0;
    scratch.transfers = {
      begin: async () => {
        transfers++;
        return () => transfers--;
      },
    } as unknown as Transfers;
    await scratch.open();
    const stream = await scratch.codebases.exportArchive(id, '');
    await expect(stream[Symbol.asyncIterator]().next()).rejects.toThrow('no thread');
    expect(transfers).toBe(0);
  });

  it('is refused before it is certain if a sandbox cannot keep what it removes', async () => {
    await put('gone');
    scratch.sandboxes = ['sb_x'];
    scratch.onRemoving = () => {
      throw new Error('no copy');
    };
    await expect(imported(packed(), 'replace')).rejects.toThrow('no copy');
    scratch.onRemoving = () => {};
    await scratch.open();
    expect(names()).toEqual(['gone']);
  });

  it('finishes an import that a crash has interrupted after its preparation', async () => {
    for (const path of ['gone', 'src/old', 'src/run.sh']) await put(path);
    scratch.onChanging = () => {
      throw new Error('crash');
    };
    await expect(imported(packed(), 'replace')).rejects.toThrow('crash');
    expect(names()).toContain('gone');
    scratch.onChanging = () => {};
    await scratch.open();
    await scratch.codebases.finishCommits();
    expect(names()).toEqual(['link', 'src', 'src/deep', 'src/deep/only', 'src/run.sh', 'src/same.sh']);
    expect(existsSync(join(at('.'), '../commit'))).toBe(false);
    expect(lstatSync(at('link')).isSymbolicLink()).toBe(true);
  });
});
