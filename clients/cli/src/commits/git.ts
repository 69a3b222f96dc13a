import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { isAbsolute } from 'node:path';

/** What a call of git failed with. Its message may have names of the sandbox. */
class GitError extends Error {
  override name = 'GitError';
}

export interface Owner {
  uid: number;
  gid: number;
}

interface Place {
  /** The repository. */
  directory: string;
  workTree?: string | undefined;
  /** Directory of objects of another repository, which it can see. */
  alternate?: string | undefined;
  /** Of the same repository: where its history ends. */
  shallowFile?: string | undefined;
  /** Who runs git, if root does not do so itself. */
  owner: Owner | undefined;
  path: string | undefined;
}

interface Call {
  input?: string | AsyncIterable<Uint8Array> | { file: string };
  /** Bytes of output; more is an error. */
  most?: number;
  signal: AbortSignal;
}

/** Anonymous memory in KiB, seconds of CPU, and blocks of a file that is written: 512 bytes, in some shells 1024. */
const LIMITS = ['1048576', '120', '2097152'];
const LIMITED = 'ulimit -d "$1" && ulimit -t "$2" && ulimit -f "$3" && shift 3 && exec';
const LONGEST_MS = 180_000;
const MOST_OUTPUT = 16 * 1024 * 1024;
const MOST_ERRORS = 4096;

/** No program runs by a configuration, and nothing is fetched. */
const SETTINGS = {
  'core.hooksPath': '/dev/null',
  'core.fsmonitor': 'false',
  'core.packedGitWindowSize': '32m',
  'gc.auto': '0',
  'maintenance.auto': 'false',
  'pack.threads': '1',
};

/**
 * Runs git of this machine in one repository. The threat: what it reads comes from a sandbox. So its time, its memory
 * and what it writes are limited, it has no variable of the caller but PATH, and it is not root in the repository of others.
 */
export class Git {
  readonly #place: Place;

  constructor(place: Place) {
    this.#place = place;
  }

  /** Standard output. Throws GitError. */
  async run(args: readonly string[], { input = '', most = MOST_OUTPUT, signal }: Call): Promise<Buffer> {
    const [file, given] = typeof input === 'object' && 'file' in input ? [input.file, ''] : [undefined, input];
    const inTime = AbortSignal.timeout(LONGEST_MS);
    const child = this.#start(args, file, AbortSignal.any([signal, inTime]));
    const ended = once(child, 'close') as Promise<[number | null, string | null]>;
    const output = readAll(child, most);
    const errors = textOf(child);
    const results = await Promise.allSettled([ended, output, feed(child, given)]);
    signal.throwIfAborted();
    if (inTime.aborted) throw new GitError(`git ${args[0]} took longer than ${LONGEST_MS / 1000} s`);
    const [end, read, fed] = results;
    if (end.status === 'rejected') throw new GitError(sentenceOf(end.reason));
    if (fed.status === 'rejected') throw fed.reason;
    if (read.status === 'rejected') throw read.reason;
    const [code, by] = end.value;
    if (code === 127) throw new GitError('there is no git on this machine');
    if (code !== 0) throw new GitError(`git ${args[0]} failed: ${(await errors) || (by ?? `exit code ${code}`)}`);
    return read.value;
  }

  async text(args: readonly string[], call: Call): Promise<string> {
    return (await this.run(args, call)).toString();
  }

  #start(args: readonly string[], file: string | undefined, signal: AbortSignal): ChildProcessWithoutNullStreams {
    const { directory, workTree, alternate, shallowFile, owner, path = '/usr/bin:/bin' } = this.#place;
    const env = {
      PATH: path.split(':').filter(isAbsolute).join(':'),
      HOME: directory,
      LC_ALL: 'C',
      GIT_DIR: directory,
      ...(workTree !== undefined && { GIT_WORK_TREE: workTree }),
      ...(alternate !== undefined && {
        GIT_ALTERNATE_OBJECT_DIRECTORIES: `"${alternate.replace(/["\\]/g, '\\$&')}"`,
      }),
      ...(shallowFile !== undefined && { GIT_SHALLOW_FILE: shallowFile }),
      ...(file !== undefined && { INPUT: file }),
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_TERMINAL_PROMPT: '0',
      GIT_COMMITTER_NAME: 'Paddock',
      GIT_COMMITTER_EMAIL: 'paddock@localhost',
      GIT_ALLOW_PROTOCOL: 'none',
      GIT_NO_LAZY_FETCH: '1',
      GIT_NO_REPLACE_OBJECTS: '1',
    };
    const settings = Object.entries(SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const script = `${LIMITED} git "$@"${file === undefined ? '' : ' < "$INPUT"'}`;
    return spawn('/bin/sh', ['-c', script, 'sh', ...LIMITS, ...settings, ...args], {
      ...owner,
      cwd: workTree ?? directory,
      env,
      signal,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
  }
}

/** Root gives the repository of another user to this user's git: hooks and configuration there are not root's. */
export async function ownerOf(directory: string): Promise<Owner | undefined> {
  if (process.geteuid?.() !== 0) return undefined;
  const { uid, gid } = await stat(directory);
  return uid === 0 ? undefined : { uid, gid };
}

async function feed(
  { stdin }: ChildProcessWithoutNullStreams,
  input: string | AsyncIterable<Uint8Array>,
): Promise<void> {
  // It may end before it has read everything; its exit code tells why.
  let isClosed = false;
  const closed = new Promise<void>((resolve) => {
    for (const event of ['error', 'close'])
      stdin.on(event, () => {
        isClosed = true;
        resolve();
      });
  });
  try {
    for await (const piece of typeof input === 'string' ? [Buffer.from(input)] : input) {
      if (isClosed) break;
      if (!stdin.write(piece)) await Promise.race([once(stdin, 'drain').catch(() => undefined), closed]);
    }
  } finally {
    stdin.end();
  }
}

async function readAll(child: ChildProcessWithoutNullStreams, most: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let left = most;
  for await (const piece of child.stdout as AsyncIterable<Buffer>) {
    left -= piece.length;
    if (left < 0) {
      child.kill();
      throw new GitError(`git printed more than ${most} bytes`);
    }
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/** The last line of its errors. */
async function textOf({ stderr }: ChildProcessWithoutNullStreams): Promise<string> {
  let text = '';
  for await (const piece of stderr.setEncoding('utf8')) text = `${text}${piece}`.slice(-MOST_ERRORS);
  const lines = text.trim().split('\n');
  return (lines.find((line) => line.startsWith('error: ')) ?? lines.at(-1) ?? '').replace(/^(error|fatal): /, '');
}

const sentenceOf = (error: unknown): string => `git cannot be run: ${(error as Error).message}`;
