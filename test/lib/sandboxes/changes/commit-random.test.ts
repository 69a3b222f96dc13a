import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromText, ROOT_PATH } from '../../../../lib/byte-string.ts';
import { isAdded, shownElsewhere, stepsOf } from '../../../../lib/sandboxes/changes/commit-plan.ts';
import { newDirectories } from '../../../../lib/sandboxes/changes/new-directories.ts';
import { smallContents } from '../../../../lib/sandboxes/changes/small-contents.ts';
import { Staged } from '../../../../lib/sandboxes/changes/staged.ts';
import { applySteps, commitThread } from '../../codebases/commit-thread.ts';
import { ownDirectories } from '../../workspaces/own-directories.ts';
import { outcome, Sandbox } from '../../workspaces/sandbox.ts';
import { settledPaths } from '../../workspaces/settled-paths.ts';

const BASE = { a: 'a', 'd/x': 'x', 'd/y': 'y', 'd/sub/z': 'z', 'e/f': 'f' };

const names = fc.constantFrom('a', 'd', 'e', 'd/x', 'd/sub', 'd/sub/z', 'e/f', 'e/sub/z', 'n', 'n/m', 'd/n');
const step = fc.tuple(
  fc.constantFrom('write', 'create', 'mkdir', 'unlink', 'rmdir', 'rename', 'link', 'chmod', 'symlink'),
  names,
  names,
);
type Steps = readonly (readonly [string, string, string])[];

function work(s: Sandbox, steps: Steps): void {
  for (const [what, one, two] of steps) {
    outcome(() => {
      if (what === 'rename' || what === 'link') s[what](one, two);
      else if (what === 'write' || what === 'create') s[what](one, two);
      else if (what === 'symlink') s.symlink(two, one);
      else if (what === 'chmod') s.set(one, { mode: 0o700 });
      else s[what as 'mkdir' | 'unlink' | 'rmdir'](one);
    });
  }
}

/**
 * A commit of everything, without the main thread's part; `meanwhile` is what programs do while it is applied, which is nothing if they have renamed
 * directories before. `whole`: new directories are moved to their places whole. `ahead`: the number of changes
 * that are staged before the others are known. `late`: the sandbox is rebased after programs see the new base, if they see
 * the same then; the contents are those that come with the changes.
 */
async function commit(
  s: Sandbox,
  meanwhile?: () => void,
  whole = true,
  crashAt = Infinity,
  ahead = 0,
  late = false,
): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'paddock-commit-'));
  try {
    mkdirSync(join(home, 'commit'));
    const selection = { paths: [ROOT_PATH], exclude: [], scratch: false };
    const asked = { selection, withLeft: true, withContents: late };
    const { changes } = s.fs.changes('sb_1', ROOT_PATH, Number.MAX_SAFE_INTEGER, asked);
    expect(changes.map(({ contents: _, ...change }) => change)).toEqual(changesOf(s));
    expect(changes.filter(({ conflict }) => conflict)).toEqual([]);
    const own = ownDirectories(s);
    const { remote, release } = await commitThread();
    const staged = await Staged.begin(join(home, 'commit'), {
      remote,
      small: smallContents(async (inodes) => s.fs.contents('sb_1', inodes)),
      text: async () => undefined,
    });
    for (const change of changes.slice(0, ahead)) await staged.ahead([change]);
    await staged.aheadWritten;
    if (whole) await staged.useWhole(await newDirectories(changes), changes.length);
    await staged.take(changes);
    await release();
    const paths = changes.map(({ path }) => path);
    const inCodebase = await stepsOf(changes, staged);
    const stage = { commit: randomUUID(), stage: 0, paths: settledPaths(changes, own), revertPaths: [], isLast: true };
    const isMoved = own.some(({ origin }) => origin !== undefined);
    const goOn = isMoved ? undefined : meanwhile;
    if (isMoved) s.fs.pause('sb_1');
    const steps: ((resumed: boolean) => Promise<void> | void)[] = [
      ...inCodebase.map((step) => () => void applySteps(s.spec.base, join(home, 'commit'), [step])),
      (resumed: boolean) => s.fs.rebase(s.spec, { ...stage, resumed }),
    ];
    const shown = shownElsewhere(own);
    const added = changes.filter((change) => isAdded(change, shown));
    s.fs.baseChanging('cb_1', paths, { id: 'sb_1', added: added.map(({ path }) => path) });
    const rebasesLater = late && !isMoved && inCodebase.length > 0;
    if (rebasesLater) {
      const rebase = steps.pop();
      // Programs see the new base before the sandbox is rebased, or before a crash.
      steps.push(async (resumed) => {
        if (!resumed) s.fs.baseChanged('cb_1', paths);
      });
      steps.push(rebase!);
    }
    for (const [index, step] of steps.entries()) {
      if (index === crashAt) {
        goOn?.();
        s.restart();
        for (const again of steps) await again(true);
        return;
      }
      if (index === steps.length - 1) goOn?.();
      await step(false);
    }
    if (!rebasesLater) s.fs.baseChanged('cb_1', paths);
  } finally {
    rmSync(home, { recursive: true });
  }
}

const changesOf = (s: Sandbox) => s.fs.changes('sb_1', ROOT_PATH, 1000).changes;
const changed = (s: Sandbox) => changesOf(s).map(({ path }) => path);
const over = (s: Sandbox) => new Sandbox({}, { base: s.spec.base }).tree();

describe('whatever was done, committed', () => {
  it('is in the codebase, is no change any more, and the sandbox goes on', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 20 }),
        fc.array(step, { maxLength: 8 }),
        fc.boolean(),
        fc.boolean(),
        fc.nat(20),
        fc.boolean(),
        async (steps, more, restart, whole, ahead, late) => {
          const s = new Sandbox(BASE);
          work(s, steps);
          const before = s.tree();
          if (restart) s.restart();
          await commit(s, undefined, whole, Infinity, ahead, late);
          expect(s.tree()).toEqual(before);
          expect(changed(s)).toEqual([]);
          expect(over(s)).toEqual(before);
          work(s, more);
          const later = s.tree();
          s.restart();
          expect(s.tree()).toEqual(later);
          await commit(s);
          expect(over(s)).toEqual(later);
        },
      ),
      { numRuns: 120 },
    );
  });

  // After a rename of a directory, programs wait until the end of the commit.
  it('while it goes on, keeps what was done meanwhile as changes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 12 }),
        fc.array(step, { maxLength: 6 }),
        fc.boolean(),
        fc.boolean(),
        async (all, more, whole, late) => {
          const steps = all.filter(([what]) => what !== 'rename');
          const s = new Sandbox(BASE);
          work(s, steps);
          const alone = new Sandbox(BASE);
          work(alone, [...steps, ...more]);
          await commit(s, () => work(s, more), whole, Infinity, 0, late);
          expect(s.tree()).toEqual(alone.tree());
          await commit(s);
          expect(over(s)).toEqual(alone.tree());
          expect(changed(s)).toEqual([]);
        },
      ),
      { numRuns: 120 },
    );
  });

  it('and interrupted by a crash at any step, is in the codebase and no change any more', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 12 }),
        fc.array(step, { maxLength: 4 }),
        fc.nat(24),
        fc.boolean(),
        fc.boolean(),
        async (all, more, crashAt, whole, late) => {
          // As above.
          const renames = more.length === 0;
          const steps = renames ? all : all.filter(([what]) => what !== 'rename');
          const s = new Sandbox(BASE);
          work(s, steps);
          const alone = new Sandbox(BASE);
          work(alone, [...steps, ...more]);
          await commit(s, () => work(s, more), whole, crashAt, 0, late);
          expect(s.tree()).toEqual(alone.tree());
          if (renames) expect(changed(s)).toEqual([]);
          expect(s.fs.changes('sb_1', ROOT_PATH, 1000).changes.filter(({ conflict }) => conflict)).toEqual([]);
          await commit(s);
          expect(over(s)).toEqual(alone.tree());
          expect(changed(s)).toEqual([]);
        },
      ),
      { numRuns: 80 },
    );
  });

  it('and interrupted by a crash, hides no later upload and is no conflict with itself', async () => {
    const s = new Sandbox(BASE);
    s.write('a', 'A');
    s.write('d/y', 'Y');
    s.create('removed', 'r');
    s.unlink('d/x');
    s.mkdir('n');
    s.create('n/f', 'f');
    // The last step is the rebase.
    await commit(
      s,
      () => {
        s.write('d/y', 'Y, later');
        s.unlink('removed');
      },
      true,
      5,
    );
    expect(changed(s)).toEqual(['d/y', 'removed']);
    for (const path of ['a', 'n/f', 'd/x']) {
      s.fs.baseChanging('cb_1', [fromText(path)]);
      s.putBase(path, 'uploaded later');
      s.fs.baseChanged('cb_1', [fromText(path)]);
      expect(s.read(path)).toBe('uploaded later');
    }
    s.write('a', 'mine');
    expect(s.fs.changes('sb_1', ROOT_PATH, 1000).changes.map(({ path, conflict }) => [path, conflict])).toEqual([
      ['a', false],
      ['d/y', false],
      ['removed', false],
    ]);
  });

  it('in a renamed directory is no conflict with what the codebase has there later', async () => {
    const s = new Sandbox({ ...BASE, 'd/sub/deep/f': 'f' });
    s.rename('d', 'n');
    await commit(s);
    for (const path of ['n/x', 'n/sub/deep/f']) {
      s.fs.baseChanging('cb_1', [fromText(path)]);
      s.putBase(path, 'uploaded later');
      s.fs.baseChanged('cb_1', [fromText(path)]);
      expect(s.read(path)).toBe('uploaded later');
      s.write(path, 'MINE');
    }
    const { changes } = s.fs.changes('sb_1', ROOT_PATH, 1000);
    expect(changes.map(({ path, conflict }) => [path, conflict])).toEqual([
      ['n/sub/deep/f', false],
      ['n/x', false],
    ]);
  });

  it('takes directories in the place of files, beside others of such names, and all that is in them', async () => {
    const s = new Sandbox({ a: 'a', 'a-x': 'x', 'd/x': 'x' });
    s.rename('d', 'n');
    for (const name of ['a', 'a-x']) {
      s.unlink(name);
      s.mkdir(name);
      s.mkdir(`${name}/sub`);
      s.create(`${name}/sub/f`, name);
      s.create(`${name}/f`, name);
    }
    for (const name of ['b', 'b-x', 'b.x']) {
      s.mkdir(name, 0o750);
      s.mkdir(`${name}/sub`, 0o700);
      s.create(`${name}/sub/f`, name, 0o600);
      s.symlink('f', `${name}/link`);
    }
    const before = s.tree();
    const modes = ['b', 'b/sub', 'b/sub/f'].map((path) => s.stat(path).mode);
    await commit(s);
    expect(over(s)).toEqual(before);
    expect(s.tree()).toEqual(before);
    expect(['b', 'b/sub', 'b/sub/f'].map((path) => s.stat(path).mode)).toEqual(modes);
    expect(changed(s)).toEqual([]);
  });
});
