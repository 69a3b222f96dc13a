import { type ByteString, ROOT_PATH } from '../byte-string.ts';
import type { Commit } from './commit-journal.ts';

/** All paths that a commit changes; of an import, the root for all that it may change. */
export function changedPaths({ stages, graft }: Pick<Commit, 'stages' | 'graft'>): ByteString[] {
  if (graft) return [ROOT_PATH];
  return [...new Set(stages.flatMap(({ steps }) => steps.map(([, path]) => path)))];
}
