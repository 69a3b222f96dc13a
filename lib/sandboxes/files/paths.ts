import type { ByteString } from '../../byte-string.ts';
import { parseDirectoryPath, parseFilePath } from '../../codebases/file-path.ts';

/** A path of a request that is not the root, as the file system takes it. Throws INVALID_ARGUMENT naming `field`. */
export function filePath(field: string, path: string): ByteString {
  const { parents, name } = parseFilePath(field, path);
  return [...parents, name].join('/');
}

/** The same for a directory: '' and '/' are the root, and a slash may end it. */
export function directoryPath(field: string, path: string): ByteString {
  return parseDirectoryPath(field, path).join('/');
}
