import type { ByteString } from '../../byte-string.ts';
import type { ImportMode } from '../../field-values.ts';
import type { Log } from '../../log.ts';
import type { Remote } from '../../threads/thread-pool.ts';
import type { CodebaseTree } from '../codebase-tree.ts';
import type { CodebaseThreads } from '../options.ts';
import type { Plan } from '../plan.ts';
import { importArchive } from './import-archive.ts';
import type { StagedCounts } from './staged-tree.ts';
import { LISTED, type TreeImport } from './tree-import.ts';

/** May be millions, of which each message has a few. */
async function listed(remote: Remote<TreeImport>, list: 'paths' | 'removed'): Promise<ByteString[]> {
  const all: ByteString[] = [];
  for (;;) {
    const part = await remote.listed(list, all.length);
    all.push(...part);
    if (part.length < LISTED) return all;
  }
}

interface Import {
  archive: AsyncIterable<Uint8Array>;
  mode: ImportMode;
  /** See `CodebaseTree.import`. */
  onlyAt: string;
  /** Whether the changed paths matter to somebody. */
  lists: () => boolean;
  /** Of the codebase. */
  owner: string;
}

/** Imports an archive into a codebase; see `importArchive`. */
export function importInto(
  tree: CodebaseTree,
  { archive, mode, onlyAt, lists, owner }: Import,
  { imports, unzstd }: Pick<CodebaseThreads, 'imports' | 'unzstd'>,
  log: Log,
): Promise<StagedCounts & { revision: string }> {
  const target = {
    incoming: tree.incoming,
    limits: () => tree.most(),
    graft: (...[remote, staging, staged]: Parameters<Parameters<typeof importArchive>[1]['graft']>) => {
      const plan = async (at: string, held: typeof staged): Promise<Plan> => {
        const options = { mode, staged, held, lists: lists() };
        const growth = await remote.plan(at, tree.files, options);
        const [paths, removed] = [await listed(remote, 'paths'), await listed(remote, 'removed')];
        return { paths, removed, growth, stages: [], givenUp: [], graft: true };
      };
      return tree.import(staging, plan, (at, files) => remote.apply(at, files), onlyAt);
    },
  };
  return importArchive(archive, target, { imports: imports.of(owner), unzstd: unzstd.of(owner) }, log);
}
