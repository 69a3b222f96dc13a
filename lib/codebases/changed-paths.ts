import type { ByteString } from '../byte-string.ts';
import type { Commit } from './commit-journal.ts';

/** All paths that a commit changes. */
export function changedPaths({ stages }: Pick<Commit, 'stages'>): ByteString[] {
  return [...new Set(stages.flatMap(({ steps }) => steps.map(([, path]) => path)))];
}
