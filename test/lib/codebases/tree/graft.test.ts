import { describe, expect, it } from 'vitest';
import { TarReader } from '../../../../lib/archive/tar-reader.ts';
import { graft } from '../../../../lib/codebases/tree/archive/graft.ts';
import { StagedMembers, type StagedTree } from '../../../../lib/codebases/tree/archive/staged-members.ts';
import { Edit } from '../../../../lib/codebases/tree/edit.ts';
import { Numbers } from '../../../../lib/codebases/tree/numbers.ts';
import { TreeQuota } from '../../../../lib/codebases/tree/tree-quota.ts';
import { archiveOf, type Members } from './archives.ts';
import { TreeScratch } from './trees.ts';

const TIME = { s: 77, ns: 7 };
const LIMITS = { bytes: 1e9, entries: 1e9, ofDisk: false };

function run<R>(steps: Generator<void, R, void>, between: () => void = () => {}): R {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    between();
  }
}

/** An archive that has arrived. */
function staged({ store }: TreeScratch, members: Members): StagedTree {
  const place = { source: store, writing: store.begin(), numbers: new Numbers(1000), limits: LIMITS, time: TIME };
  const sink = new StagedMembers(place);
  new TarReader(sink).feed(archiveOf(members));
  return run(sink.finish());
}

function editOf({ store, codebase, share }: TreeScratch): Edit {
  const disk = { bytes: Number.POSITIVE_INFINITY, admitting: () => () => {} };
  const quota = new TreeQuota({ maxBytes: 0, maxFiles: 0 }, share, disk);
  return new Edit(codebase.head, store.begin(), { store, quota, numbers: new Numbers(2000), time: TIME });
}

/** Directories that the codebase and an archive have, one in the other, with names of both. */
function nested(text: string, width: number, named: boolean): Members {
  return ['a', 'a/b', 'a/b/c', 'd', 'd/e'].flatMap(
    (path, depth): Members => [
      ...(named ? [[`${path}/`, 'directory', 0o700 + depth, 5] as Members[number]] : []),
      ...Array.from({ length: width }, (_, n): Members[number] => [`${path}/${text}${n}`, text]),
      [`${path}/both`, text],
    ],
  );
}

describe('an archive that many names of a codebase have, too', () => {
  it('is brought in with few of them in memory at a time, and makes the same tree', async () => {
    const scratch = new TreeScratch();
    await scratch.import(archiveOf([...nested('old', 6, true), ['a/old0.link', { to: 'a/old0', hard: true }]]));
    const members: Members = [...nested('new', 9, false), ['a/old0', 'replaced'], ['a/b/.wh.old3', '']];
    const tree = staged(scratch, [...members, ['d/e/', 'directory', 0o711, 9]]);
    const roots = [1, 5, Number.POSITIVE_INFINITY].map((most) => {
      const edit = editOf(scratch);
      let pending = 0;
      run(graft(edit, tree, 'update', most), () => {
        pending = Math.max(pending, edit.draft.pending);
      });
      // Besides, the directories that are open.
      expect(Math.max(pending, edit.draft.pending)).toBeLessThanOrEqual(most + 6);
      return run(edit.build());
    });
    expect(roots[0]).toEqual(roots[2]);
    expect(roots[1]).toEqual(roots[2]);
    expect(roots[2]!.totals.files).toBe(80);
  });
});
