import { fromLatin1, joinNames, ROOT_PATH, toText } from '../../byte-string.ts';
import type { FileInfo } from '../../contract/messages.ts';
import { cursorOf, type Page, PageRoom, tokenOf } from '../../paging.ts';
import type { Source } from '../../trees/directory/source.ts';
import { type DirectoryEntry, isDirectory } from '../../trees/format/entry.ts';
import { parseDirectoryPath } from '../file-path.ts';
import { inListedOrder } from './listed-order.ts';
import { requireDirectory } from './reach.ts';
import type { Found } from './walk.ts';

/**
 * Lists directories, files and symlinks (as files, with the link's own size), in byte order of their paths. Names that are not
 * UTF-8 are shown with U+FFFD.
 */
export function listFiles(
  source: Source,
  root: DirectoryEntry,
  codebaseId: string,
  request: { path: string; recursive: boolean } & Page,
): { files: FileInfo[]; next_page_token: string } {
  const names = parseDirectoryPath('path', request.path);
  const { recursive } = request;
  const scope = JSON.stringify([codebaseId, names, recursive]);
  const after = fromLatin1(cursorOf(scope, request.page_token) ?? '');
  const top = requireDirectory(source, root, names, request.path);
  const files: FileInfo[] = [];
  const room = new PageRoom();
  let last = ROOT_PATH;
  for (const found of inListedOrder(source, top, { path: joinNames(names), recursive, after })) {
    const info = files.length < request.page_size ? infoOf(found) : undefined;
    if (info === undefined || !room.fits(info)) return { files, next_page_token: tokenOf(scope, last) };
    files.push(info);
    last = found.path;
  }
  return { files, next_page_token: '' };
}

function infoOf({ path, entry }: Found): FileInfo {
  return {
    path: toText(path),
    size: isDirectory(entry) ? 0 : entry.size,
    modified_at: entry.mtime,
    is_dir: isDirectory(entry),
    mode: entry.mode & 0o777,
    symlink_target: entry.target === undefined ? '' : toText(entry.target),
  };
}
