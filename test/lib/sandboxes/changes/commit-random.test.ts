import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CommitJournal } from '../../../../lib/codebases/commit-journal.ts';
import { settledBy } from '../../../../lib/sandboxes/changes/commit.ts';
import { announcedPaths, stepsOf } from '../../../../lib/sandboxes/changes/commit-plan.ts';
import { smallContents } from '../../../../lib/sandboxes/changes/small-contents.ts';
import { Staged } from '../../../../lib/sandboxes/changes/staged.ts';
import { outcome, Sandbox } from '../../fuse/workspace/sandbox.ts';

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

/** A commit of everything, without the main thread's part; `meanwhile` is what programs do while it is applied. */
async function commit(s: Sandbox, meanwhile: () => void): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'paddock-commit-'));
  try {
    mkdirSync(join(home, 'commit'));
    const { changes } = s.fs.changes('sb_1', '', Number.MAX_SAFE_INTEGER);
    expect(changes.filter(({ conflict }) => conflict)).toEqual([]);
    const own = s.fs.renamed('sb_1');
    const staged = new Staged(
      join(home, 'commit'),
      smallContents(async (inodes) => s.fs.contents('sb_1', inodes)),
    );
    await staged.take(changes);
    const paths = announcedPaths(changes);
    s.fs.baseChanging('cb_1', paths);
    await new CommitJournal(home, s.spec.base).apply(stepsOf(changes, staged));
    meanwhile();
    s.fs.settle('sb_1', settledBy(changes, own));
    s.fs.baseChanged('cb_1', paths);
  } finally {
    rmSync(home, { recursive: true });
  }
}

const changed = (s: Sandbox) => s.fs.changes('sb_1', '', 1000).changes.map(({ path }) => path);
const over = (s: Sandbox) => new Sandbox({}, { base: s.spec.base }).tree();

describe('whatever was done, committed', () => {
  it('is in the codebase, is no change any more, and the sandbox goes on', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 20 }),
        fc.array(step, { maxLength: 8 }),
        fc.boolean(),
        async (steps, more, restart) => {
          const s = new Sandbox(BASE);
          work(s, steps);
          const before = s.tree();
          if (restart) s.restart();
          await commit(s, () => {});
          expect(s.tree()).toEqual(before);
          expect(changed(s)).toEqual([]);
          expect(over(s)).toEqual(before);
          work(s, more);
          const later = s.tree();
          s.restart();
          expect(s.tree()).toEqual(later);
          await commit(s, () => {});
          expect(over(s)).toEqual(later);
        },
      ),
      { numRuns: 120 },
    );
  });

  // Without renamed directories: between the change of the codebase and the settling, one shows its old place.
  it('while it goes on, keeps what was done meanwhile as changes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), fc.array(step, { maxLength: 6 }), async (all, more) => {
        const steps = all.filter(([what]) => what !== 'rename');
        const s = new Sandbox(BASE);
        work(s, steps);
        const alone = new Sandbox(BASE);
        work(alone, [...steps, ...more]);
        await commit(s, () => work(s, more));
        expect(s.tree()).toEqual(alone.tree());
        await commit(s, () => {});
        expect(over(s)).toEqual(alone.tree());
        expect(changed(s)).toEqual([]);
      }),
      { numRuns: 120 },
    );
  });
});
