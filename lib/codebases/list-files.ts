import { type ByteString, fromLatin1, quoteText, ROOT_PATH, toText } from '../byte-string.ts';
import type { FileInfo } from '../contract/messages.ts';
import { ServiceError } from '../errors.ts';
import { cursorOf, type Page, tokenOf } from '../paging.ts';
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
  let last = ROOT_PATH;
  for await (const found of walkTree(root, { names, recursive: request.recursive, after, hold: 2 * size })) {
    if (files.length === size) return { files, next_page_token: tokenOf(scope, last) };
    files.push(fileInfo(found));
    last = found.path;
  }
  return { files, next_page_token: '' };
}

async function checkDirectory(root: string, names: readonly ByteString[], path: string): Promise<void> {
  const resolved = await resolveAll(root, names);
  if (resolved === undefined) {
    throw new ServiceError('NOT_FOUND', `directory ${quoteText(path)} does not exist in the codebase`);
  }
  await resolved.directory.close();
}

function fileInfo({ path, stats }: Found): FileInfo {
  return {
    path: toText(path),
    size: stats.isDirectory() ? 0 : Number(stats.size),
    modified_at: Number(stats.mtimeMs / 1000n),
    is_dir: stats.isDirectory(),
    mode: Number(stats.mode) & 0o777,
  };
}
