import { fromText } from '../../../../lib/byte-string.ts';
import { WRITE } from '../../../../lib/permissions/index.ts';
import type { ChangeSide, WorkspaceChange } from '../../../../lib/workspaces/workspaces.ts';

const MODES = { directory: 0o040755, file: 0o100644, link: 0o120777 };
type Type = keyof typeof MODES | undefined;

/** `[path, what the codebase has, what the sandbox has, conflict]`, in order of the paths. */
export function changesOf(...given: [path: string, base: Type, now: Type, conflict?: 'conflict'][]): WorkspaceChange[] {
  return given.map(([path, base, now, conflict]) => ({
    path: fromText(path),
    kind: base === undefined ? 'added' : now === undefined ? 'deleted' : 'modified',
    contentChanged: true,
    conflict: conflict !== undefined,
    level: WRITE,
    writable: true,
    ...(base && { base: side(MODES[base]) }),
    ...(now && { now: side(MODES[now]) }),
  }));
}

function side(mode: number): ChangeSide {
  return { mode, size: 0, mtime: { sec: 0, nsec: 0 } };
}
