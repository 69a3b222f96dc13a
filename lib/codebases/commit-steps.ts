import { type ByteString, baseNameOf, parentOf, splitPath } from '../byte-string.ts';
import { ServiceError } from '../errors.ts';
import { Directory } from '../host-tree/directory.ts';
import { errorCode, ignoreAbsent } from '../linux/errno.ts';
import { changeMode } from './change-mode.ts';
import { resolvePath } from './resolve-path.ts';

/**
 * One change of a codebase's files. `put` moves a file or symlink from the staging directory to its path. Steps are
 * idempotent: each may be repeated after a crash.
 */
export type Step =
  | ['unlink', path: ByteString]
  | ['rmdir', path: ByteString]
  | ['mkdir', path: ByteString, mode: number]
  | ['put', path: ByteString, staged: ByteString]
  | ['chmod', path: ByteString, mode: number];

const BATCH = 32;

/**
 * Makes the steps in order. Every path is resolved from the root without following symlinks. Returns the paths of steps
 * that were skipped because an entry of another type is in the way, which repeating would not change. Throws for other
 * failures.
 */
export async function applySteps(root: string, staging: string, steps: readonly Step[]): Promise<ByteString[]> {
  const leftOut: ByteString[] = [];
  // Absent: the commit was finished except for the removal of its journal.
  const staged = await Directory.open(staging).catch(ignoreAbsent);
  let open: { directory: Directory; parents: ByteString; depth: number } | undefined;
  try {
    for (const alike of inOneDirectory(steps)) {
      const [kind, path] = alike[0]!;
      const parents = parentOf(path);
      const names = splitPath(parents);
      // The paths are sorted: most are in the directory of the previous one.
      if (open?.parents !== parents || open.depth !== names.length) {
        const above = open;
        open = undefined;
        const below = above && (await oneBelow(above, parents));
        await above?.directory.close();
        const directory = below ?? (await enter(root, names, kind === 'put' || kind === 'mkdir').catch(inTheWay));
        if (directory === IN_THE_WAY) leftOut.push(...alike.map((step) => step[1]));
        if (directory === undefined || directory === IN_THE_WAY) continue;
        open = { directory, parents, depth: names.length };
      }
      leftOut.push(...(await makeAll(alike, open.directory, staged)));
      // A directory kept open may have been replaced.
      if (kind === 'rmdir') {
        await open.directory.close();
        open = undefined;
      }
    }
  } finally {
    await open?.directory.close();
    await staged?.close();
  }
  return leftOut;
}

const IN_THE_WAY = Symbol('an entry of another type');

/** For errors of a step that creates an entry. */
function inTheWay(error: unknown): typeof IN_THE_WAY {
  const errno = errorCode(error) ?? '';
  const refused = error instanceof ServiceError && error.code === 'FAILED_PRECONDITION';
  if (refused || ['EISDIR', 'ENOTDIR', 'ENOTEMPTY', 'EEXIST'].includes(errno)) return IN_THE_WAY;
  throw error;
}

/** Directories created one inside the other are not resolved from the root each time. */
async function oneBelow(
  { directory, parents }: { directory: Directory; parents: ByteString },
  path: ByteString,
): Promise<Directory | undefined> {
  if (path === '' || parentOf(path) !== parents) return undefined;
  return directory.directory(baseNameOf(path)).catch(() => undefined);
}

/** Consecutive steps of one kind in one directory, up to a maximum: they are independent of each other. */
function* inOneDirectory(steps: readonly Step[]): Generator<readonly Step[]> {
  for (let from = 0, to = 1; from < steps.length; from = to, to++) {
    const [kind, path] = steps[from]!;
    const parent = parentOf(path);
    while (to < steps.length && to - from < BATCH && steps[to]![0] === kind && parentOf(steps[to]![1]) === parent) to++;
    yield steps.slice(from, to);
  }
}

/** Waits for all steps before it throws, so that none continues in a closed directory. Returns the skipped paths. */
async function makeAll(
  steps: readonly Step[],
  directory: Directory,
  staged: Directory | undefined,
): Promise<ByteString[]> {
  const made = await Promise.allSettled(steps.map((step) => make(step, directory, baseNameOf(step[1]), staged)));
  const failed = made.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  const isLeftOut = (index: number) => {
    const result = made[index]!;
    return result.status === 'fulfilled' && result.value === IN_THE_WAY;
  };
  return steps.filter((_, index) => isLeftOut(index)).map((step) => step[1]);
}

/** undefined: the directory does not exist. With `create` it is created. */
async function enter(root: string, names: readonly ByteString[], create: boolean): Promise<Directory | undefined> {
  let { directory, trail } = await resolvePath(root, create ? names : []);
  try {
    if (create) {
      for (const name of names.slice(trail.length - 1)) {
        await directory.makeDirectory(name);
        const child = await directory.directory(name);
        await directory.close();
        directory = child;
        await directory.chmod(0o755);
      }
      return directory;
    }
    for (const name of names) {
      const child = await directory.directory(name).catch((error) => {
        if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes(errorCode(error) ?? '')) return undefined;
        throw error;
      });
      await directory.close();
      if (child === undefined) return undefined;
      directory = child;
    }
    return directory;
  } catch (error) {
    await directory.close().catch(() => undefined);
    throw error;
  }
}

async function make(
  step: Step,
  directory: Directory,
  name: ByteString,
  staged: Directory | undefined,
): Promise<unknown> {
  switch (step[0]) {
    case 'unlink':
      return directory.unlink(name).catch(unless('ENOENT', 'EISDIR', 'EPERM'));
    case 'rmdir':
      return directory.removeDirectory(name).catch(unless('ENOENT', 'ENOTDIR', 'ENOTEMPTY', 'EEXIST'));
    case 'mkdir':
      await directory.makeDirectory(name).catch(unless('EEXIST'));
      if (!(await directory.lstat(name))?.isDirectory()) return IN_THE_WAY;
      return changeMode(directory, name, step[2], staged);
    case 'put':
      if (staged === undefined) return;
      return directory.take(staged, step[2], name).catch((error) => {
        return errorCode(error) === 'ENOENT' ? undefined : inTheWay(error);
      });
    case 'chmod':
      return changeMode(directory, name, step[2], staged);
  }
}

function unless(...errnos: string[]): (error: unknown) => void {
  return (error) => {
    if (!errnos.includes(errorCode(error) ?? '')) throw error;
  };
}
