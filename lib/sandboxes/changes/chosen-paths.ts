import { type ByteString, joinNames, ROOT_PATH } from '../../byte-string.ts';
import { parseDirectoryPath } from '../../codebases/file-path.ts';
import { invalidArgument } from '../../errors.ts';
import { MAX_PATHS } from '../../path-limits.ts';

/**
 * Converts the paths of a request to those of the file system; an empty list means everything ('', the root). Throws
 * INVALID_ARGUMENT naming `paths[i]`.
 */
export function chosenPaths(paths: readonly string[]): ByteString[] {
  if (paths.length > MAX_PATHS)
    throw invalidArgument('paths', `must have at most ${MAX_PATHS} entries; a directory names all below it`);
  if (paths.length === 0) return [ROOT_PATH];
  return paths.map((path, index) => joinNames(parseDirectoryPath(`paths[${index}]`, path)));
}
