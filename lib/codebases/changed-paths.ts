import type { ByteString } from '../fuse/filesystem.ts';
import type { Commit } from './commit-journal.ts';

/** Every path that a commit changes, as text; of a name that is not UTF-8, the directory it is in. */
export function changedPaths({ stages }: Pick<Commit, 'stages'>): string[] {
  return asText(stages.flatMap(({ steps }) => steps.map(([, path]) => path)));
}

export function asText(changed: Iterable<ByteString>): string[] {
  const paths = new Set<string>();
  for (const path of changed) {
    for (let at = path; at !== ''; at = at.slice(0, Math.max(0, at.lastIndexOf('/')))) {
      const text = Buffer.from(at, 'latin1').toString();
      if (Buffer.from(text).toString('latin1') !== at) continue;
      paths.add(text);
      break;
    }
  }
  return [...paths];
}
