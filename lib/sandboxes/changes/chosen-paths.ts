import type { ByteString } from '../../byte-string.ts';
import { parseDirectoryPath } from '../../codebases/file-path.ts';
import { invalidArgument } from '../../errors.ts';

const MAX_PATHS = 10_000;

/** The paths of a request as the file system takes them; none is all ('', the root). Throws INVALID_ARGUMENT by `paths[i]`. */
export function chosenPaths(paths: readonly string[]): ByteString[] {
  if (paths.length > MAX_PATHS)
    throw invalidArgument('paths', `must have at most ${MAX_PATHS} entries; a directory names all below it`);
  if (paths.length === 0) return [''];
  return paths.map((path, index) => parseDirectoryPath(`paths[${index}]`, path).join('/'));
}

/** For a message. */
export function shown(path: ByteString): string {
  return JSON.stringify(shownPath(path).slice(0, 200));
}

export function shownPath(path: ByteString): string {
  return Buffer.from(path, 'latin1').toString();
}
