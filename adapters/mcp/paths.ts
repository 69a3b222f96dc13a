import { posix } from 'node:path';
import { invalidArgument } from '../../lib/errors.ts';

export const ROOT = '/workspace';

/**
 * The path from the root of the workspace that a tool's argument names: relative ones start there, too. Dot segments are
 * removed first, so that none leads out; whether links do is decided by the file system.
 */
export function workspacePath(path: string, name = 'path'): string {
  const absolute = posix.resolve(ROOT, path);
  if (absolute === ROOT) return '';
  if (absolute.startsWith(`${ROOT}/`)) return absolute.slice(ROOT.length + 1);
  throw invalidArgument(name, `must be within ${ROOT}, which ${JSON.stringify(path.slice(0, 200))} is not`);
}

export const shownPath = (path: string): string => (path === '' ? ROOT : `${ROOT}/${path}`);

/** The path relative to a directory of the workspace that it is in. */
export const within = (directory: string, path: string): string =>
  directory === '' ? path : path.slice(directory.length + 1);

/** A name of a file in a list with one on each line: names can contain line ends. */
export const onOneLine = (name: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  /[\x00-\x1f\x7f\u2028\u2029]/.test(name) ? JSON.stringify(name) : name;
