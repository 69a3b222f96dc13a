import { withBreaks } from '../../breaks.ts';
import { type ByteString, joinNames, ROOT_PATH } from '../../byte-string.ts';
import { parseDirectoryPath } from '../../codebases/file-path.ts';
import { invalidArgument } from '../../errors.ts';
import { MAX_PATHS } from '../../path-limits.ts';

const PATHS_PER_STEP = 256;

/**
 * Converts the paths of a request to those of the file system; an empty list means everything ('', the root). Throws
 * INVALID_ARGUMENT naming `paths[i]`.
 */
export function chosenPaths(paths: readonly string[]): Promise<ByteString[]> {
  return withBreaks(choosing(paths));
}

/** In steps: a request may have 10,000 paths. */
export function* choosing(paths: readonly string[]): Generator<undefined, ByteString[], void> {
  if (paths.length > MAX_PATHS)
    throw invalidArgument('paths', `must have at most ${MAX_PATHS} entries; a directory names all below it`);
  if (paths.length === 0) return [ROOT_PATH];
  const chosen: ByteString[] = [];
  for (const path of paths) {
    chosen.push(joinNames(parseDirectoryPath(`paths[${chosen.length}]`, path)));
    if (chosen.length % PATHS_PER_STEP === 0) yield;
  }
  return chosen;
}
