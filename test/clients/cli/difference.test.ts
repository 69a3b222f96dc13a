import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { differenceOf, type Snapshot } from '../../../clients/cli/src/uploads/difference.ts';
import { packed } from '../../../clients/typescript/src/local/pack.ts';
import { type Found, walked } from '../../../clients/typescript/src/local/walk.ts';
import { emptyDirectory, put as putIn } from '../../directory.ts';
import { Scratch } from '../../lib/codebases/scratch.ts';

const root = emptyDirectory();
const never = new AbortController().signal;
const at = (path: string) => join(root, path);
const put = (path: string, content: string) => putIn(root, path, content);

describe('the difference to what was sent', () => {
  const old: Partial<Snapshot> = { at: Date.now() + 3600_000 };
  const look = async () => ({ now: await walked(root, {}, never) });
  const paths = (lists: readonly Found[][]) => lists.flat().map(({ path }) => path);

  it('is nothing if nothing was changed since', async () => {
    put('d/a', 'a');
    const { now } = await look();
    expect(differenceOf(now, { ...old, found: now.found } as Snapshot)).toEqual({ changed: [], removed: [] });
  });

  it('has what is new, gone or changed, with the directories around it', async () => {
    for (const path of ['a', 'same', 'd/x', 'd/same', 'whole/b/c', 'whole/e', 'mode', 'time']) put(path, path);
    symlinkSync('a', at('link'));
    const before = (await look()).now.found;
    put('a', 'b');
    rmSync(at('d/x'));
    rmSync(at('whole'), { recursive: true });
    chmodSync(at('mode'), 0o600);
    utimesSync(at('time'), 1, 1);
    rmSync(at('link'));
    symlinkSync('b', at('link'));
    put('new/n', '');
    const { changed, removed } = differenceOf((await look()).now, { ...old, found: before } as Snapshot);
    expect(paths(changed)).toEqual(['a', 'link', 'mode', 'time', 'd', 'new', 'new/n']);
    expect(removed).toEqual(['d/x', 'whole']);
  });

  it('has a file with old times, if it was changed', async () => {
    put('a', '1');
    utimesSync(at('a'), 1e9, 1e9);
    const before = (await look()).now.found;
    put('a', '2');
    utimesSync(at('a'), 1e9, 1e9);
    expect(paths(differenceOf((await look()).now, { ...old, found: before } as Snapshot).changed)).toEqual(['a']);
  });

  it.each([
    { clock: 'of milliseconds', ctimeMs: 1_700_000_000_123.5, doubt: 50, none: 500 },
    { clock: 'of seconds', ctimeMs: 1_700_000_000_000, doubt: 2000, none: 10_000 },
  ])(
    'has a file that may have been changed again within a tick of a clock $clock',
    async ({ ctimeMs, doubt, none }) => {
      put('a', 'a');
      const { now } = await look();
      const found = new Map([['a', { ...now.found.get('a')!, ctimeMs }]]);
      const changed = (after: number) => paths(differenceOf({ ...now, found }, { at: ctimeMs + after, found }).changed);
      expect([changed(0), changed(doubt), changed(none)]).toEqual([['a'], ['a'], []]);
    },
  );
});

describe('updates of a codebase by differences', () => {
  let scratch: Scratch;
  beforeEach(async () => {
    scratch = new Scratch();
    await scratch.open();
  });
  afterEach(() => scratch.remove());

  /** All that an upload keeps, by path. */
  const contents = async (directory: string, time: (mtimeMs: number) => unknown = (mtimeMs) => mtimeMs) => {
    const { found } = await walked(directory, { gitHooks: true }, never);
    const entries = [...found.values()].map(({ path, type, mode, mtimeMs, target }) => {
      const bits = type === 'symlink' ? 0 : mode & 0o777;
      const what = type === 'file' ? readFileSync(join(directory, path), 'utf8') : target;
      return [path, [type, bits, time(mtimeMs), what]] as const;
    });
    return Object.fromEntries(entries);
  };

  it('leave it as a new upload would, after any edits', { timeout: 300_000 }, async () => {
    const { id } = await scratch.codebases.create({ name: 'c', owner_id: '' });
    let seed = 43;
    const random = (below: number) => {
      seed = (seed * 1103515245 + 12345) % 2 ** 31;
      return Math.floor((seed / 2 ** 31) * below);
    };
    const name = () => Array.from({ length: 1 + random(3) }, () => 'abc'[random(3)]).join('/');
    const exists = (path: string) => {
      try {
        return lstatSync(at(path));
      } catch {
        return undefined;
      }
    };
    const free = (path: string) => {
      for (let above = dirname(path); above !== '.'; above = dirname(above))
        if (exists(above)?.isDirectory() === false) rmSync(at(above));
      rmSync(at(path), { recursive: true, force: true });
      mkdirSync(dirname(at(path)), { recursive: true });
      return path;
    };
    const edits: ((path: string) => void)[] = [
      (path) => writeFileSync(at(free(path)), String(random(10))),
      (path) => exists(path)?.isFile() && writeFileSync(at(path), String(random(10))),
      (path) => exists(path)?.isFile() && utimesSync(at(path), 1e9, 1e9),
      (path) => mkdirSync(at(free(path))),
      (path) => symlinkSync(name(), at(free(path))),
      (path) => exists(path) && rmSync(at(path), { recursive: true }),
      (path) => exists(path) && !exists(path)?.isSymbolicLink() && chmodSync(at(path), 0o700 + random(64)),
      (path) => {
        const from = name();
        if (!exists(from) || `${path}/`.startsWith(`${from}/`) || `${from}/`.startsWith(`${path}/`)) return;
        free(path);
        if (exists(from)) renameSync(at(from), at(path));
      },
    ];
    let revision = '';
    let snapshot: Snapshot = { at: 0, found: new Map() };
    for (let round = 0; round < 40; round++) {
      for (let edit = random(6); edit > 0; edit--) edits[random(edits.length)]!(name());
      const begun = Date.now();
      const now = await walked(root, {}, never);
      const { changed, removed } = differenceOf(now, snapshot);
      const found = new Map(now.found);
      const sent = (each: Found) => void found.set(each.path, each);
      const archive = packed(root, changed, { sent, removed: () => removed });
      revision = (await scratch.codebases.importArchive(id, 'update', archive, revision)).revision;
      snapshot = { at: begun, found };
      // An archive has microseconds.
      const expected = await contents(root, (mtimeMs) => expect.closeTo(mtimeMs, 1));
      expect(await contents(scratch.codebases.filesPath(id)), `round ${round}`).toEqual(expected);
    }
  });
});
