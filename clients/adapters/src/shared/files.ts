import { posix } from 'node:path';
import {
  FailedPreconditionError,
  InvalidArgumentError,
  NotFoundError,
  PermissionDeniedError,
  type Sandbox,
} from 'paddock-sandbox';

export const WORKSPACE = '/workspace';

export type FileProblem = 'file_not_found' | 'permission_denied' | 'is_directory' | 'invalid_path';

/** A file that cannot be read or written: outside of the workspace, as a command says, or the workspace itself. */
class PathError extends Error {
  override name = 'PathError';
  readonly problem: FileProblem;

  constructor(path: string, problem: FileProblem) {
    super(`${path}: ${problem.replaceAll('_', ' ')}`);
    this.problem = problem;
  }
}

/** What is wrong with a path; undefined: the error has another reason, for example a lost connection. */
export function problemOf(error: unknown): FileProblem | undefined {
  if (error instanceof PathError) return error.problem;
  if (error instanceof NotFoundError && error.resourceType === 'file') return 'file_not_found';
  if (error instanceof PermissionDeniedError) return 'permission_denied';
  if (error instanceof InvalidArgumentError) return 'invalid_path';
  // Begins with the path in quotes, unless it is about the sandbox.
  if (!(error instanceof FailedPreconditionError && error.message.startsWith('"'))) return undefined;
  return / is a directory( that is not empty)?$/.test(error.message) ? 'is_directory' : 'invalid_path';
}

/** The absolute path; a relative one starts in the workspace. */
export const absolute = (path: string): string => posix.resolve(WORKSPACE, path);

/** Whether the operations on files reach it; a command reaches the rest, for example /tmp. */
export const isInWorkspace = (path: string): boolean => `${absolute(path)}/`.startsWith(`${WORKSPACE}/`);

const PROBLEMS = new Map<number, FileProblem>([
  [21, 'is_directory'],
  [22, 'file_not_found'],
]);
const SCRIPTS = {
  read: '[ -d "$1" ] && exit 21; [ -e "$1" ] || exit 22; exec cat -- "$1"',
  write: '[ -d "$1" ] && exit 21; mkdir -p -- "$(dirname -- "$1")" && exec cat >"$1"',
  stat: '[ -e "$1" ] || exit 22; exec stat -L -c "%s %F" -- "$1"',
  // Without find, whose -printf busybox lacks.
  list: `[ -e "$1" ] || exit 22; cd -- "$1" && [ -r . ] || exit 23
    for f in * .[!.]* ..?*; do
      if [ -L "$f" ]; then t=l; elif [ -d "$f" ]; then t=d; elif [ -f "$f" ]; then t=f; elif [ -e "$f" ]; then t=o
      else continue; fi
      printf '%s%s\\0' $t "$f"
    done`,
  remove: '[ -d "$1" ] && [ ! -L "$1" ] && exit 21; [ -e "$1" ] || [ -L "$1" ] || exit 22; exec rm -f -- "$1"',
};

/** Runs one of the scripts as a command of the sandbox. Returns its output. */
async function script(sandbox: Sandbox, name: keyof typeof SCRIPTS, at: string, signal?: AbortSignal): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const event of sandbox.stream(['sh', '-c', SCRIPTS[name], 'sh', at], { signal })) {
    if (event.type === 'stdout') pieces.push(event.data);
    else if (event.type === 'exit') refuse(at, event.exitCode);
  }
  return Buffer.concat(pieces);
}

export async function readBytes(sandbox: Sandbox, path: string, signal?: AbortSignal): Promise<Uint8Array> {
  const at = fileAt(path);
  return isInWorkspace(at) ? sandbox.files.read(at, { signal }) : script(sandbox, 'read', at, signal);
}

/** At most so many bytes of a file of the workspace; the rest is not transferred. */
export async function readBeginning(sandbox: Sandbox, path: string, bytes: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let left = bytes;
  // Leaving the loop ends the transfer.
  for await (const piece of await sandbox.files.stream(path)) {
    pieces.push(piece.subarray(0, left));
    left -= piece.length;
    if (left <= 0) break;
  }
  return new Uint8Array(Buffer.concat(pieces));
}

/** The absolute path of a file, which is not the workspace itself. */
function fileAt(path: string): string {
  const at = absolute(path);
  if (at === WORKSPACE) throw new PathError(at, 'is_directory');
  return at;
}

/** Creates or replaces a file, and missing directories above it. */
export async function writeBytes(
  sandbox: Sandbox,
  path: string,
  content: Uint8Array | ReadableStream<Uint8Array>,
  signal?: AbortSignal,
): Promise<void> {
  const at = fileAt(path);
  if (isInWorkspace(at)) {
    await sandbox.files.write(at, content, { signal });
    return;
  }
  const bytes = content instanceof Uint8Array ? content : new Uint8Array(await new Response(content).arrayBuffer());
  // Not cut off by the signal: a process that was started must be known, to be ended.
  signal?.throwIfAborted();
  const process = await sandbox.start(['sh', '-c', SCRIPTS.write, 'sh', at], { stdin: true });
  try {
    // A command that refuses reads no input: its exit code has the reason.
    const sent = process.write(bytes, { signal }).then(() => process.closeStdin({ signal }));
    const [{ exitCode }] = await Promise.all([process.wait({ signal }), sent.catch(() => undefined)]);
    refuse(at, exitCode);
    await sent;
  } finally {
    await process.delete().catch(() => undefined);
  }
}

export type Kind = 'file' | 'directory' | 'symlink' | 'other';

/** Follows symlinks. */
export async function stat(
  sandbox: Sandbox,
  path: string,
  signal?: AbortSignal,
): Promise<{ kind: Kind; size: number }> {
  const text = (await script(sandbox, 'stat', absolute(path), signal)).toString();
  const [size, ...kind] = text.trim().split(' ');
  const kinds: Record<string, Kind> = { regular: 'file', directory: 'directory' };
  return { kind: kinds[kind[0]!] ?? 'other', size: Number(size) };
}

const LETTERS: Record<string, Kind> = { f: 'file', d: 'directory', l: 'symlink' };

export async function list(
  sandbox: Sandbox,
  path: string,
  signal?: AbortSignal,
): Promise<{ name: string; kind: Kind; size?: number }[]> {
  const at = absolute(path);
  if (isInWorkspace(at)) {
    const files = await Array.fromAsync(sandbox.files.list(at, { signal }));
    return files.map((file) => ({
      name: posix.basename(file.path),
      kind: file.type,
      size: file.size,
    }));
  }
  const entries = (await script(sandbox, 'list', at, signal)).toString().split('\0').slice(0, -1);
  return entries.map((entry) => ({ name: entry.slice(1), kind: LETTERS[entry[0]!] ?? 'other' }));
}

/** Removes a file, or a symlink itself. */
export async function removeFile(sandbox: Sandbox, path: string, signal?: AbortSignal): Promise<void> {
  await script(sandbox, 'remove', absolute(path), signal);
}

function refuse(path: string, exitCode: number): void {
  if (exitCode !== 0) throw new PathError(path, PROBLEMS.get(exitCode) ?? 'permission_denied');
}
