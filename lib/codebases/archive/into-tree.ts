import type { ImportMode } from '../../field-values.ts';
import type { Log } from '../../log.ts';
import type { CodebaseTree } from '../codebase-tree.ts';
import type { Plan } from '../plan.ts';
import { type ArchiveThreads, importArchive } from './import-archive.ts';
import type { StagedCounts } from './staged-tree.ts';

/** Imports an archive into a codebase; see `importArchive`. `lists`: whether the changed paths matter to somebody. */
export function importInto(
  tree: CodebaseTree,
  { archive, mode, lists }: { archive: AsyncIterable<Uint8Array>; mode: ImportMode; lists: () => boolean },
  threads: ArchiveThreads,
  log: Log,
): Promise<StagedCounts> {
  const target = {
    incoming: tree.incoming,
    limits: () => tree.most(),
    graft: (...[remote, staging, staged]: Parameters<Parameters<typeof importArchive>[1]['graft']>) => {
      const plan = async (at: string, count: () => Promise<typeof staged>): Promise<Plan> => {
        const options = { mode, staged, held: await count(), lists: lists() };
        return { ...(await remote.plan(at, tree.files, options)), stages: [], givenUp: [], graft: true };
      };
      return tree.apply((at, _, count) => plan(at, count), {
        staging,
        graft: (at, files) => remote.apply(at, files),
      });
    },
  };
  return importArchive(archive, target, threads, log);
}
