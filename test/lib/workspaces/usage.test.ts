import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fromText, ROOT_PATH } from '../../../lib/byte-string.ts';
import { WorkspaceFileSystem } from '../../../lib/workspaces/workspace-file-system.ts';
import { ownDirectories } from './own-directories.ts';
import { Notices, Sandbox } from './sandbox.ts';
import { settledPaths } from './settled-paths.ts';

/** Sizes of contents in a slot, and in a data file. */
const SMALL = 'x'.repeat(1000);
const LARGE = 'x'.repeat(70_000);

/** Commits all changes of the sandbox, as the server does. */
function commit(s: Sandbox): void {
  const { changes } = s.fs.changes(s.spec.id, ROOT_PATH, 1000);
  const own = ownDirectories(s);
  const paths = changes.map(({ path }) => path);
  s.fs.baseChanging('cb_1', paths);
  for (const { path, now, base } of changes) {
    const type = (now ?? base!).mode & 0o170000;
    if (now === undefined) rmSync(join(s.spec.base, path), { recursive: true, force: true });
    else if (type === 0o120000) s.linkBase(s.readlink(path), path);
    else if (type === 0o040000) s.putBase(`${path}/`, '');
    else s.putBase(path, s.read(path));
  }
  const settled = settledPaths(changes, own);
  s.fs.rebase(s.spec, { commit: 'c', stage: 0, paths: settled, revertPaths: [], resumed: false });
  s.fs.baseChanged('cb_1', paths);
}

/** Creates a sandbox with a changed file of each kind, including copied-up base files. */
function changed(): Sandbox {
  const s = new Sandbox({ 'base/small': SMALL, 'base/large': LARGE, 'base/other': 'other' });
  mkdirSync(join(s.home, 'layers'));
  const ownerBytes = { owner: new BigInt64Array(2), own: new BigInt64Array(1) };
  s.goOn({ ...s.spec, layers: join(s.home, 'layers'), ownerBytes });
  s.mkdir('new');
  s.create('new/small', SMALL);
  s.create('new/large', LARGE);
  s.write('base/small', '+', SMALL.length);
  s.write('base/large', '+', LARGE.length);
  s.symlink('target', 'link');
  return s;
}

const FILES = ['new/small', 'new/large', 'base/small', 'base/large'];

const ACTS: Record<string, (s: Sandbox) => void> = {
  'a write': (s) => {
    for (const path of FILES) s.write(path, 'more', s.stat(path).size);
  },
  'an overwrite': (s) => {
    for (const path of FILES) s.write(path, 'over', 3);
  },
  'a truncation': (s) => {
    for (const path of FILES) s.set(path, { size: 10 });
  },
  'a removal': (s) => {
    for (const path of [...FILES, 'link', 'base/other']) s.unlink(path);
  },
  'a rename over another': (s) => {
    s.rename('new/small', 'base/large');
    s.rename('new/large', 'base/small');
    s.rename('link', 'base/other');
  },
  'a rename of a directory': (s) => s.rename('new', 'base/new'),
  'a commit': commit,
  'several commits': (s) => {
    for (let n = 0; n < 3; n++) {
      commit(s);
      s.write('new/small', String(n));
      s.create(`new/${n}`, LARGE);
      commit(s);
    }
  },
  'a commit of removals': (s) => {
    commit(s);
    s.unlink('new/large');
    s.unlink('base/small');
    commit(s);
  },
  'a discard': (s) => void s.fs.revert(s.spec.id, [ROOT_PATH]),
  'a discard of some paths': (s) => void s.fs.revert(s.spec.id, ['new/small', 'base/large'].map(fromText)),
  'a checkpoint': (s) => void s.fs.freeze(s.spec.id),
  'a rollback': (s) => {
    const { layer } = s.fs.freeze(s.spec.id);
    for (const path of FILES) s.write(path, 'more', s.stat(path).size);
    s.unlink('new/small');
    s.create('another', LARGE);
    s.fs.rollback(s.spec.id, layer);
  },
  'a commit and a rollback': (s) => {
    const { layer } = s.fs.freeze(s.spec.id);
    commit(s);
    s.fs.rollback(s.spec.id, layer);
  },
};

const STARTS: Record<string, (s: Sandbox) => void> = {
  'of files that the kernel knows': () => undefined,
  'of files that the kernel has forgotten': (s) => s.forgetAll(),
  'of files in a checkpoint': (s) => void s.fs.freeze(s.spec.id),
};

function used(fs: WorkspaceFileSystem): { files: number; bytes: number } {
  const { files, bytes } = fs.freeze('sb_1');
  return { files, bytes };
}

/** Loads the delta as a new server does. */
function usedWhenLoaded(s: Sandbox): { files: number; bytes: number } {
  const copy = join(s.home, 'copy');
  for (const part of ['delta', 'layers']) {
    cpSync(join(s.home, part), join(copy, part), { recursive: true, preserveTimestamps: true });
  }
  const fs = new WorkspaceFileSystem(new Notices());
  const { ownerBytes: _, ...spec } = s.spec;
  fs.attach({ ...spec, delta: join(copy, 'delta'), layers: join(copy, 'layers') });
  try {
    return used(fs);
  } finally {
    fs.detach(s.spec.id);
  }
}

describe('the usage of a sandbox equals that of its delta after a new load', () => {
  for (const [act, make] of Object.entries(ACTS)) {
    it.each(Object.entries(STARTS))(`after ${act} %s`, (_of, start) => {
      const s = changed();
      start(s);
      make(s);
      s.forgetAll();
      const { owner, own } = s.spec.ownerBytes!;
      expect([Number(own[0]), Number(owner[0])]).toEqual(Array(2).fill(s.fs.usage(s.spec.id).bytes));
      const loaded = usedWhenLoaded(s);
      expect(used(s.fs)).toEqual(loaded);
    });
  }

  it('without committed contents', () => {
    const s = changed();
    commit(s);
    // The root stays in the kernel.
    expect(used(s.fs)).toEqual({ files: 1, bytes: 0 });
    s.create('more', SMALL);
    expect(used(s.fs).bytes).toBe(SMALL.length);
    commit(s);
    expect(used(s.fs).bytes).toBe(0);
  });
});

describe('the notification of the kernel', () => {
  it('is sent once for each file of a commit', () => {
    const s = new Sandbox();
    s.mkdir('new');
    const files = ['new/a', 'new/b'].map((path) => s.create(path, SMALL).nodeid);
    commit(s);
    for (const id of files) expect(s.notices.inodes.filter((each) => each === id)).toHaveLength(1);
    const others = ['new/c', 'new/d'].map((path) => s.create(path, SMALL).nodeid);
    s.notices.inodes.length = 0;
    commit(s);
    for (const id of others) expect(s.notices.inodes.filter((each) => each === id)).toHaveLength(1);
    // These files did not change.
    for (const id of files) expect(s.notices.inodes).not.toContain(id);
  });
});
