import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withBreaks } from '../../../../lib/breaks.ts';
import { fromText, ROOT_PATH } from '../../../../lib/byte-string.ts';
import type { PermissionRule } from '../../../../lib/contract/messages.ts';
import { compilingExcluded } from '../../../../lib/permissions/index.ts';
import { chosenChanges } from '../../../../lib/sandboxes/changes/chosen-changes.ts';
import { withGitIndexes } from '../../../../lib/sandboxes/changes/git-index.ts';
import { listedFor } from '../../../../lib/sandboxes/changes/listed-for.ts';
import type { Listed } from '../../../../lib/sandboxes/changes/listed-in-pages.ts';
import type { Asked } from '../../../../lib/workspaces/history/changes.ts';
import type { ChangeSelection } from '../../../../lib/workspaces/workspaces.ts';
import { outcome, rule, Sandbox } from '../../workspaces/sandbox.ts';

const BASE = { a: 'a', 'd/x': 'x', 'd/y': 'y', 'd/sub/z': 'z', 'e/f': 'f' };
const scratch = (pattern: string): PermissionRule => ({ ...rule(pattern, 'WRITE', 1), scratch: true });
const RULES = [rule('/**', 'WRITE'), scratch('n/**'), scratch('**/index'), rule('n/keep/**', 'WRITE', 2)];

const paths = ['a', 'a/x', 'd', 'd/x', 'd/sub', 'd/sub/z', 'd/n', 'e', 'e/f', 'n', 'n/keep', 'n/keep/m', 'n/m', '.git'];
const names = fc.constantFrom(...paths, '.git/HEAD', '.git/index');
const step = fc.tuple(fc.constantFrom('write', 'create', 'mkdir', 'unlink', 'rmdir', 'chmod', 'rename'), names, names);

function work(s: Sandbox, steps: readonly (readonly [string, string, string])[]): void {
  for (const [what, one, two] of steps) {
    outcome(() => {
      if (what === 'rename') s.rename(one, two);
      else if (what === 'write' || what === 'create') s[what](one, two);
      else if (what === 'chmod') s.set(one, { mode: 0o700 });
      else s[what as 'mkdir' | 'unlink' | 'rmdir'](one);
    });
  }
}

/** What is committed, or why nothing is. */
async function decided(chosen: ChangeSelection, all: Promise<Listed>): Promise<unknown> {
  const excluded = await withBreaks(compilingExcluded(chosen.exclude));
  try {
    const { listed, own } = await all;
    const changes = await chosenChanges(listed, chosen.paths, own, excluded);
    return changes.map(({ path, kind }) => `${kind} ${path}`);
  } catch (error) {
    return (error as Error).message;
  }
}

describe('the changes that are listed for a commit of some paths', () => {
  it('decide the same as all changes do', { timeout: 600_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 15 }),
        fc.uniqueArray(names, { minLength: 1, maxLength: 3 }),
        fc.subarray(['**/x', 'd/sub', 'n/keep'], { maxLength: 1 }),
        fc.boolean(),
        async (steps, at, exclude, isScratch) => {
          const s = new Sandbox(BASE, { rules: RULES });
          try {
            work(s, steps);
            const chosen = { paths: at.map(fromText), exclude, scratch: isScratch };
            const list = async (after: typeof ROOT_PATH, limit: number, asked: Asked) =>
              s.fs.changes('sb_1', after, limit, asked);
            const everything = { selection: { ...chosen, paths: [ROOT_PATH] }, withLeft: true, withOwn: true };
            const all = list(ROOT_PATH, Number.MAX_SAFE_INTEGER, everything).then(async ({ changes, own }) => ({
              listed: await withGitIndexes(changes),
              own: own!,
            }));
            expect(await decided(chosen, listedFor(chosen, list))).toEqual(await decided(chosen, all));
          } finally {
            s.remove();
          }
        },
      ),
      { numRuns: 200 },
    );
  });

  it('are those at, above and below the paths', async () => {
    const s = new Sandbox(BASE);
    for (const path of ['d/new', 'e/new', 'new']) s.create(path, 'new');
    for (const dir of ['m', 'm/m']) s.mkdir(dir);
    for (const path of ['m/x', 'm/m/x', 'm/m/y']) s.create(path, 'new');
    const chosen = { paths: ['d', 'm/m/x'].map(fromText), exclude: [], scratch: false };
    const { listed } = await listedFor(chosen, async (...asked) => s.fs.changes('sb_1', ...asked));
    expect(listed.map(({ path, left }) => [path, left])).toEqual([
      ['d/new', undefined],
      ['m', 'excluded'],
      ['m/m', 'excluded'],
      ['m/m/x', undefined],
    ]);
  });
});
