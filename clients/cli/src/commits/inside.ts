import type { Sandbox } from 'paddock-sandbox';
import { CliError } from '../command-line/errors.ts';

/** A branch of the sandbox, or its HEAD. */
export interface Tip {
  commit: string;
  /** "HEAD", or the name of a branch. */
  from: string;
}

export interface Sent {
  tips: readonly Tip[];
  /** The objects that are missing here, as a thin pack. To be read once. */
  pack: AsyncIterable<Uint8Array>;
  /** Ends git in the sandbox. */
  close(): Promise<unknown>;
}

const MOST_TIPS = 20;
export const MOST_PACK_BYTES = 256 * 1024 * 1024;
const MOST_OBJECTS = 500_000;
const MOST_HEADER = 64 * 1024;
const LONGEST = '120s';

/** Standard input: the commits that are known here. Output: lines of tips, an empty line, a pack. */
const SCRIPT = `
command -v git > /dev/null || exit 127
export LC_ALL=C GIT_NO_REPLACE_OBJECTS=1 GIT_GRAFT_FILE=/dev/null GIT_NO_LAZY_FETCH=1 GIT_OPTIONAL_LOCKS=0
git() { command git -c safe.directory='*' -c core.fsmonitor=false "$@"; }
tips=$({ git rev-parse -q --verify 'HEAD^{commit}' | sed 's/$/ HEAD/'
  git for-each-ref --count=${MOST_TIPS} --sort=-committerdate --format='%(objectname) %(refname)' refs/heads
} | head -c ${MOST_HEADER})
printf '%s\\n\\n' "$tips"
{
  git cat-file --batch-check='%(objectname) %(objecttype)' |
    sed -n -e 's/^\\([0-9a-f]*\\) commit$/^\\1/p' -e 's/^\\([0-9a-f]*\\) tag$/^\\1/p'
  printf '%s\\n' "$tips" | cut -d ' ' -f 1
} | git pack-objects --revs --thin --delta-base-offset --stdout -q
`;

/**
 * Asks git in the sandbox for its commits. The threat: the sandbox answers as it likes. Only sizes and forms are checked
 * here; the objects are checked by git of this machine. Throws CliError.
 */
export async function askInside(sandbox: Sandbox, known: readonly string[], signal: AbortSignal): Promise<Sent> {
  const bytes = outputOf(sandbox, known, signal);
  try {
    const { tips, rest } = await headerOf(bytes);
    return { tips, pack: checkedPack(rest, bytes), close: () => bytes.return() };
  } catch (error) {
    await bytes.return();
    throw error;
  }
}

async function* outputOf(
  sandbox: Sandbox,
  known: readonly string[],
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, void> {
  const stdin = known.map((commit) => `${commit}\n`).join('');
  const events = sandbox.stream(['/bin/sh', '-c', SCRIPT], {
    workdir: '/workspace',
    stdin,
    timeout: LONGEST,
    signal,
  });
  for await (const event of events) {
    if (event.type === 'stdout') yield event.data;
    if (event.type !== 'exit' || event.exitCode === 0) continue;
    throw new CliError(
      event.exitCode === 127 ? 'the sandbox has no git' : `git in the sandbox failed with exit code ${event.exitCode}`,
    );
  }
}

async function headerOf(bytes: AsyncGenerator<Uint8Array, void, void>): Promise<{ tips: Tip[]; rest: Buffer }> {
  let read = Buffer.alloc(0);
  for (;;) {
    const end = read.indexOf('\n\n');
    if (end !== -1) return { tips: tipsOf(read.toString('utf8', 0, end)), rest: read.subarray(end + 2) };
    const next = await bytes.next();
    if (next.done || read.length > 2 * MOST_HEADER) throw new CliError('git in the sandbox did not list its branches');
    read = Buffer.concat([read, next.value]);
  }
}

function tipsOf(header: string): Tip[] {
  const lines = header.split('\n').filter((line) => line !== '');
  const tips = lines.map((line) => /^([0-9a-f]{40}|[0-9a-f]{64}) (?:(HEAD)|refs\/heads\/(.+))$/.exec(line));
  if (tips.length > MOST_TIPS + 1 || tips.includes(null))
    throw new CliError('git in the sandbox did not list its branches');
  return tips.map((tip) => ({ commit: tip![1]!, from: tip![2] ?? tip![3]! }));
}

/** Throws at what has not the form of a pack, and at what is too much: git would allocate memory for each object. */
async function* checkedPack(
  first: Buffer,
  bytes: AsyncGenerator<Uint8Array, void, void>,
): AsyncGenerator<Uint8Array, void, void> {
  let head: Buffer | undefined = Buffer.alloc(0);
  let left = MOST_PACK_BYTES;
  for await (const piece of joined(first, bytes)) {
    left -= piece.length;
    if (left < 0) throw new CliError(`its commits have more than ${MOST_PACK_BYTES / 1024 ** 2} MiB`);
    if (head === undefined) yield piece;
    else {
      head = Buffer.concat([head, piece]);
      if (head.length < HEAD_BYTES) continue;
      requirePack(head);
      yield head;
      head = undefined;
    }
  }
  if (head !== undefined) throw new CliError('git in the sandbox sent no pack');
}

async function* joined(first: Uint8Array, rest: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
  yield first;
  yield* rest;
}

const HEAD_BYTES = 12;

function requirePack(head: Buffer): void {
  if (head.toString('latin1', 0, 4) !== 'PACK') throw new CliError('git in the sandbox sent no pack');
  if (head.readUInt32BE(8) > MOST_OBJECTS) throw new CliError(`its commits have more than ${MOST_OBJECTS} objects`);
}
