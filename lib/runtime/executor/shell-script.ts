import { AGENT_DIR } from './places.ts';
import type { ScriptPart } from './script-part.ts';
import { shellQuote } from './shell-quote.ts';

/**
 * Maximum characters of a command that is part of the request itself: bash reads requests from the pipe one byte at a
 * time.
 */
const MAX_INLINE = 512;

/**
 * The program of a session: writes the path of the shell to stdout, or an empty line if there is none, and becomes the
 * shell, which reads requests from the FIFO `name`.req as its script. Read as a script instead of by a loop, because
 * `break` in a command would end the loop. `shell`: a plain name or an absolute path; empty: bash or sh.
 */
export function shellStart(shell: string, name: string): string {
  const [first, second] = shell === '' ? ['bash', 'sh'] : [shellQuote(shell)];
  return [
    `s=${first}; p=$(command -v ${first})${second ? ` || { s=${second}; p=$(command -v ${second}); }` : ''}`,
    // Some builds of busybox find their own programs by name only. /bin/sh runs the agent, so it is there.
    'case $p in sh) p=/bin/sh s=/bin/sh ;; esac',
    // Not the name of a builtin or function.
    'case $p in /*) echo "$p" ;; *) echo; exit ;; esac',
    `exec "$s" <${AGENT_DIR}/${name}.req`,
  ].join('\n');
}

/** bash, unlike other shells, expands aliases without a terminal only if it is told to. Succeeds in every shell. */
export const FIRST_COMMAND = '{ \\command shopt -s expand_aliases; } 2>/dev/null || :';

export interface ShellRequest {
  /** Identifies the report of the exit code. */
  nonce: string;
  command: string;
  /** Name of the FIFOs for its output. */
  output: string;
  /** FIFO for reports. */
  status: string;
  /** Standard error goes to the same FIFO as standard output. */
  merge: boolean;
  /** Exit code of the previous command, which is `$?` in this one. */
  previous: number;
}

/**
 * The command in a file, if it is not part of the request: an assignment, so that the shell's messages name no file.
 * undefined: the command is short.
 */
export function shellCommandFile({ command }: ShellRequest): readonly ScriptPart[] | undefined {
  if (command.length <= MAX_INLINE) return undefined;
  return ['_command=', { quoted: command }, '\n'];
}

/**
 * Returns the request, at most 4096 bytes. `load`: the line that makes a shell read the command's file. Order and form
 * matter:
 *
 * - The shell itself evaluates the command, so that all it changes is kept. `command eval` survives errors of syntax,
 *   which end a shell after `eval`.
 * - `exec >file` in the command lasts until the command's end: the redirection of `eval` is undone.
 * - Backslashes prevent aliases, and a function named `command` is removed: nothing else here can be redefined without
 *   the intention to do so.
 * - Separate lines: an error within one line drops the rest of that line only.
 */
export function shellRequest({ nonce, command, output, status, merge, previous }: ShellRequest, load?: string): string {
  const errors = merge ? '2>&1' : `2>${AGENT_DIR}/${output}.err`;
  // Without an export of the text by `set -a`, which would make the environment too large for any program.
  const text = load === undefined ? shellQuote(command) : '"\\\\unset _command; $_command"';
  return [
    ...(load === undefined ? [] : [`\\command ${load.trimEnd()}`]),
    // With `set -e` the exit code was 0, or the shell has ended.
    ...(previous === 0 ? [] : [`case $- in *e*) ;; *) (\\exit ${previous}) ;; esac`]),
    `\\command eval ${text} </dev/null >${AGENT_DIR}/${output}.out ${errors}`,
    '_status=$?',
    '\\unset -f command',
    `\\command echo "${nonce} x $_status" >${AGENT_DIR}/${status} || \\exit`,
    '',
  ].join('\n');
}
