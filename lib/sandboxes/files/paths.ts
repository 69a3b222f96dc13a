import { type ByteString, joinNames } from '../../byte-string.ts';
import { parseDirectoryPath, parseFilePath } from '../../codebases/file-path.ts';

/**
 * Converts a path of a request, other than the root, to that of the file system. Throws INVALID_ARGUMENT naming
 * `field`.
 */
export function filePath(field: string, path: string): ByteString {
  const { parents, name } = parseFilePath(field, path);
  return joinNames([...parents, name]);
}

/** Like `filePath`, for a directory: '' and '/' are the root, and a trailing slash is allowed. */
export function directoryPath(field: string, path: string): ByteString {
  return joinNames(parseDirectoryPath(field, path));
}
