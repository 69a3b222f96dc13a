import { posix } from 'node:path';
import { breaks } from '../../lib/breaks.ts';
import { invalidArgument, ServiceError } from '../../lib/errors.ts';
import type { Place } from './tool.ts';

/** Where every sandbox sees its workspace. */
export const ROOT = '/workspace';

/**
 * The path from the root of the workspace that a tool's argument names: relative ones start there, too. Dot segments are
 * removed first, so that none leads out; whether links do is decided by the file system.
 */
export async function workspacePath(place: Place, path: string, name = 'path'): Promise<string> {
  const absolute = posix.resolve(ROOT, path);
  const inside = await fromRoot(place, absolute);
  if (inside !== undefined) return inside;
  const problem = `must be within ${ROOT}, which ${JSON.stringify(path.slice(0, 200))} is not`;
  throw invalidArgument(name, `${problem}; paths are relative to it, like src/a.ts`);
}

/** Like workspacePath, for each. */
export async function workspacePaths(place: Place, paths: readonly string[]): Promise<string[]> {
  const all: string[] = [];
  for (const path of paths) {
    const due = breaks.due();
    if (due !== undefined) await due;
    all.push(await workspacePath(place, path, 'paths'));
  }
  return all;
}

/** Globs below a directory of the workspace, like those of rules: absolute ones become relative to it. */
export async function globsIn(
  place: Place,
  directory: string,
  globs: readonly string[],
  name = 'exclude',
): Promise<string[]> {
  const all: string[] = [];
  for (const glob of globs) {
    const inside = await fromRoot(place, glob);
    const isBelow = inside === undefined || directory === '' || inside.startsWith(`${directory}/`);
    if (!isBelow) throw invalidArgument(name, `must be globs below ${directory}, relative to it, like **/*.ts`);
    all.push(inside === undefined ? glob : within(directory, inside));
  }
  return all;
}

/** undefined: what is named is not below a place at which the sandbox sees its workspace. */
async function fromRoot(place: Place, named: string): Promise<string | undefined> {
  if (!named.startsWith('/')) return undefined;
  return below(ROOT, named) ?? below(await secondRoot(place), named);
}

function below(root: string, named: string): string | undefined {
  if (named === root) return '';
  return root !== '' && named.startsWith(`${root}/`) ? named.slice(root.length + 1) : undefined;
}

const secondRoots = new WeakMap<Place, Promise<string>>();

/** Asked for once a call, which may name thousands of paths. */
function secondRoot(place: Place): Promise<string> {
  const root = secondRoots.get(place) ?? secondRootOf(place);
  secondRoots.set(place, root);
  return root;
}

/** Empty: none, or none that the caller may know of. */
async function secondRootOf({ caller, sandbox_id }: Place): Promise<string> {
  try {
    return (await caller.request('GetSandbox', { sandbox_id, as: 'agent' })).workspace_path;
  } catch (error) {
    if (error instanceof ServiceError) return '';
    throw error;
  }
}

/** As answers name a path: like rules and changes do. */
export const shownPath = (path: string): string => (path === '' ? '.' : path);

/** The path relative to a directory of the workspace that it is in. */
export const within = (directory: string, path: string): string =>
  directory === '' ? path : path.slice(directory.length + 1);

/** A name of a file in a list with one on each line: names can contain line ends. */
export const onOneLine = (name: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  /[\x00-\x1f\x7f\u2028\u2029]/.test(name) ? JSON.stringify(name) : name;
