import { toText } from '../../byte-string.ts';
import type { FileStat } from '../../contract/messages.ts';
import { type Level, permissionOf } from '../../permissions/index.ts';
import type { FileStatus } from '../../workspaces/workspace-files.ts';
import { typeOf } from '../changes/shown-change.ts';

/** Names that are not UTF-8 are shown with U+FFFD. */
export function shownStatus({ path, mode, size, mtime, target, level }: FileStatus): FileStat {
  return {
    path: toText(path),
    type: typeOf({ mode, size, mtime }),
    size,
    mode: mode & 0o7777,
    modified_at: mtime.sec,
    target: target === undefined ? '' : toText(target),
    permission: permissionOf(level as Level),
  };
}
