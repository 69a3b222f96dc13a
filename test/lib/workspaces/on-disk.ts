import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The files and directories below a directory of the host, as `Programs.tree` has those of a sandbox. */
export function onDisk(root: string): Record<string, string> {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true });
  return Object.fromEntries(
    entries.map((entry) => {
      const at = join(entry.parentPath, entry.name);
      const path = at.slice(root.length + 1);
      return entry.isDirectory() ? [`${path}/`, ''] : [path, readFileSync(at, 'utf8')];
    }),
  );
}
