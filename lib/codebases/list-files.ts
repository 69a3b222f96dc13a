import {
  type ByteString,
  baseNameOf,
  fromBuffer,
  fromLatin1,
  parentOf,
  quoteText,
  ROOT_PATH,
  splitPath,
  toText,
} from '../byte-string.ts';
import type { FileInfo } from '../contract/messages.ts';
import { isAbsence } from '../host-tree/at.ts';
import { errorCode } from '../linux/errno.ts';
import { missing } from '../not-found.ts';
import { cursorOf, type Page, PageRoom, tokenOf } from '../paging.ts';
import { parseDirectoryPath } from './file-path.ts';
import { resolveAll } from './resolve-path.ts';
import { type Found, walkTree } from './walk-tree.ts';

/**
 * Lists directories, regular files and symlinks (as files, with the link's own size), in byte order of their paths.
 * Names that are not UTF-8 are shown with U+FFFD. A page reads only the directories that it contains.
 */
export async function listFiles(
  root: string,
  codebaseId: string,
  request: { path: string; recursive: boolean } & Page,
): Promise<{ files: FileInfo[]; next_page_token: string }> {
  const size = request.page_size;
  const names = parseDirectoryPath('path', request.path);
  const scope = JSON.stringify([codebaseId, names, request.recursive]);
  const after = fromLatin1(cursorOf(scope, request.page_token) ?? '');
  await checkDirectory(root, names, request.path);
  const files: FileInfo[] = [];
  const room = new PageRoom();
  let last = ROOT_PATH;
  for await (const found of walkTree(root, { names, recursive: request.recursive, after, hold: 2 * size })) {
    const info = files.length < size ? await fileInfo(root, found) : undefined;
    if (info === undefined || !room.fits(info)) return { files, next_page_token: tokenOf(scope, last) };
    files.push(info);
    last = found.path;
  }
  return { files, next_page_token: '' };
}

/** Throws NOT_FOUND unless the codebase has a directory at the path. `path`: as the caller gave it. */
export async function checkDirectory(root: string, names: readonly ByteString[], path: string): Promise<void> {
  const resolved = await resolveAll(root, names);
  if (resolved === undefined) {
    throw missing('file', path, `directory ${quoteText(path)} does not exist in the codebase`);
  }
  await resolved.directory.close();
}

async function fileInfo(root: string, { path, stats }: Found): Promise<FileInfo> {
  return {
    path: toText(path),
    size: stats.isDirectory() ? 0 : Number(stats.size),
    modified_at: Number(stats.mtimeMs / 1000n),
    is_dir: stats.isDirectory(),
    mode: Number(stats.mode) & 0o777,
    symlink_target: stats.isSymbolicLink() ? await targetOf(root, path) : '',
  };
}

/** Empty if the link has vanished. */
async function targetOf(root: string, path: ByteString): Promise<string> {
  const resolved = await resolveAll(root, splitPath(parentOf(path)));
  if (resolved === undefined) return '';
  try {
    return toText(fromBuffer(await resolved.directory.readlink(baseNameOf(path))));
  } catch (error) {
    if (isAbsence(error) || errorCode(error) === 'EINVAL') return '';
    throw error;
  } finally {
    await resolved.directory.close();
  }
}
