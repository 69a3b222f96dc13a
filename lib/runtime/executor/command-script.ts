import {
  ENV_NAME,
  ENV_NAME_PROBLEM,
  MAX_ARGUMENTS,
  MAX_ARGV_BYTES,
  MAX_ENV_BYTES,
  MAX_STRING_BYTES,
  MAX_WORKDIR_BYTES,
} from '../../command-limits.ts';
import { invalidArgument } from '../../errors.ts';
import type { Command } from '../runtime.ts';
import { findShell, ownShell, SHELL } from './command-shell.ts';
import { AGENT_DIR, WORKSPACE } from './places.ts';
import type { ScriptPart } from './script-part.ts';
import { checkSize } from './terminal/sizes.ts';
import { type TerminalScript, terminalScript, WORD_BYTES } from './terminal/terminal-script.ts';

export interface CommandScript {
  /** The line that the runner executes; ends in a newline. */
  parts: readonly ScriptPart[];
  /** Whether a line "s" (or "w") precedes the command's end, for which the server must wait. */
  reportsStart: boolean;
}

const IDENTIFIER = new RegExp(`^${ENV_NAME}$`);
/**
 * Names that some shell (dash, bash, busybox ash) reserves, checks or interprets on assignment. They are passed to the
 * command by env(1) and never assigned in the runner.
 */
const SHELL_OWNED = new RegExp(
  `^(${[
    'BASH.*|COMP.*|COPROC|DIRSTACK|E?UID|PPID|GROUPS|SHELLOPTS|POSIXLY_CORRECT|FUNCNAME|FUNCNEST|PIPESTATUS',
    'IFS|CDPATH|ENV|OPT.*|PS[0-4]|LINENO|RANDOM|SRANDOM|SECONDS|EPOCH.*|HIST.*|MAIL.*|PWD|OLDPWD|_|n|ATTY|TERM',
    'LANG|LANGUAGE|LC_.*|TEXTDOMAIN.*|HOSTTYPE|HOSTNAME|MACHTYPE|OSTYPE|GLOBIGNORE|EXECIGNORE|IGNOREEOF|TMOUT|FCEDIT',
    'FIGNORE|INPUTRC|MAPFILE|READLINE.*|REPLY|SHLVL|CHILD_MAX|PROMPT.*|auto_resume|histchars',
  ].join('|')})$`,
);

/** The type of a terminal that the request gives none. */
const TERM = 'xterm-256color';

function checkText(field: string, text: string, max: number, more = 0): void {
  if (text.includes('\0')) throw invalidArgument(field, 'must have no NUL');
  if (Buffer.byteLength(text) + more > max) throw invalidArgument(field, `must have at most ${max} bytes`);
}

/**
 * Returns the absolute directory to start the command in; '' for the workspace itself. A relative path starts there.
 */
export function resolveWorkdir(workdir: string): string {
  checkText('workdir', workdir, MAX_WORKDIR_BYTES);
  if (workdir === '' || workdir === WORKSPACE || workdir === '.') return '';
  return workdir.startsWith('/') ? workdir : `${WORKSPACE}/${workdir}`;
}

function checkEnv(env: Readonly<Record<string, string>>, longest: number): [name: string, value: string][] {
  const entries = Object.entries(env);
  let total = 0;
  for (const [name, value] of entries) {
    if (!IDENTIFIER.test(name)) {
      throw invalidArgument('a key of env', ENV_NAME_PROBLEM);
    }
    checkText(`env ${name.slice(0, 64)} with its name`, value, longest, name.length + 1);
    total += Buffer.byteLength(value) + name.length + 2;
  }
  if (total > MAX_ENV_BYTES) throw invalidArgument('env', `must have at most ${MAX_ENV_BYTES} bytes in all`);
  return entries;
}

function checkArgv(argv: readonly string[], longest: number): void {
  if (argv[0] === '') throw invalidArgument('argv', 'must begin with the name of a program');
  if (argv.length > MAX_ARGUMENTS) throw invalidArgument('argv', `must have at most ${MAX_ARGUMENTS} elements`);
  let total = 0;
  for (const argument of argv) {
    checkText('an element of argv', argument, longest);
    total += Buffer.byteLength(argument) + 1;
  }
  if (total > MAX_ARGV_BYTES) throw invalidArgument('argv', `must have at most ${MAX_ARGV_BYTES} bytes in all`);
}

/** Either the script or the program was checked, whichever the request has. */
function isScript({ command, argv }: Request, longest: number): boolean {
  if (argv !== undefined && argv.length > 0) checkArgv(argv, longest);
  else checkText('command', command, longest);
  return argv === undefined || argv.length === 0;
}

/**
 * Returns the words after the shell's exec, which finds a program by PATH and never takes it for a builtin. But some
 * shells take a name with "-" in front for an option, and env(1), which passes the variables `owned`, takes one with "="
 * for a variable.
 */
function program(request: Request, owned: readonly ScriptPart[]): ScriptPart[] {
  const env = owned.length > 0 ? [ENV, ...owned] : [];
  if (isScript(request, MAX_STRING_BYTES)) {
    const shell = ownShell(request);
    const start = env.length > 0 && shell.includes('=') ? [...env, BY_SHELL] : env;
    return [...start, shell === '' ? '/bin/sh' : SHELL, ' -c ', { quoted: request.command }];
  }
  const argv = request.argv!;
  const words = argv.flatMap((argument) => [{ quoted: argument }, ' ']);
  if (env.length > 0) return [...env, ...(argv[0]!.includes('=') ? [BY_SHELL] : []), ...words];
  return argv[0]!.startsWith('-') ? [ENV, '-- ', ...words] : words;
}

/** Characters of the name of a program that is looked for before it is run; no file has a longer one. */
const MAX_LOOKED_UP = 255;
const ENV = '/usr/bin/env ';
const EXEC = 'exec "$0" "$@"';
const BY_SHELL = `/bin/sh -c '${EXEC}' `;

/** Names of FIFOs in the agent directory. */
export interface InputNames {
  stdin?: string | undefined;
  /** Of a terminal: its new sizes. */
  sizes?: string | undefined;
}

type Request = Pick<Command, 'command' | 'argv' | 'shell' | 'merge' | 'env' | 'workdir' | 'terminal'>;
type Variables = readonly [name: string, value: string][];

/**
 * Returns the line that a runner executes for one command. Every value of the request is quoted, none is parsed. Throws
 * INVALID_ARGUMENT for values that cannot be passed to a program. A terminal needs both FIFOs. `before`: commands of the
 * server that the command's subshell runs first, each with a semicolon.
 */
export function commandScript(nonce: string, request: Request, names: InputNames = {}, before = ''): CommandScript {
  const workdir = resolveWorkdir(request.workdir);
  const env = checkEnv(request.env, request.terminal ? WORD_BYTES : MAX_STRING_BYTES);
  const terminal = request.terminal && onTerminal(nonce, request, env);
  const run = terminal?.run ?? onPipes(request, env);
  const stdin = names.stdin === undefined ? '' : ` <${AGENT_DIR}/${names.stdin}`;
  const sizes = names.sizes === undefined ? '' : ` 3<${AGENT_DIR}/${names.sizes}`;
  const started = `echo '${nonce} s 0' >&9`;
  const shell = ownShell(request);
  // Always in a subshell: the runner stays in the workspace, and its messages about a killed child go to its own
  // stderr.
  let body = run;
  if (workdir !== '') {
    const enter = ['if cd -- ', { quoted: workdir }, ` 2>/dev/null; then unset OLDPWD; ${started}; `];
    body = [...enter, ...run, `; else echo '${nonce} w 0' >&9; fi`];
  } else if (stdin !== '' || shell !== '') {
    body = [`${started}; `, ...run];
  }
  const find = [...(shell === '' ? [] : findShell(shell, nonce)), ...(terminal ? [terminal.find] : [])];
  return {
    parts: [`n=${nonce}; (${before}`, ...find, ...body, `)${stdin}${sizes}; echo "$n x $?" >&9\n`],
    reportsStart: body !== run,
  };
}

function onPipes(request: Request, env: Variables): ScriptPart[] {
  const plain = env.filter(([name]) => !SHELL_OWNED.test(name));
  const owned = plain.length === env.length ? [] : env.filter(([name]) => SHELL_OWNED.test(name));
  // With exec no shell is left between the runner and the program, which would get the command's signals, too.
  const streams = request.merge ? ' >&7 2>&7 7>&- 8>&- 9>&-' : ' >&7 2>&8 7>&- 8>&- 9>&-';
  const words = program(request, assignments(owned));
  return [...ifMissing(request, plain, words), ...assignments(plain), 'exec ', ...words, streams];
}

/**
 * Says that the program is not found, and ends the subshell as a shell does: what it says itself names the runner's file. Only
 * for programs that exec searches; a name of a builtin is not found by exec, which is said by the shell.
 */
function ifMissing({ argv, merge }: Request, plain: Variables, words: readonly ScriptPart[]): ScriptPart[] {
  const name = argv?.[0];
  if (name === undefined || words[0] === ENV || name.includes('/') || name.length > MAX_LOOKED_UP) return [];
  const path = assignments(plain.filter(([each]) => each === 'PATH'));
  const program = { quoted: name };
  const say = [`{ printf '/bin/sh: %s: not found\\n' `, program, ` >&${merge ? 7 : 8}; exit 127; }; `];
  return [...path, 'command -v -- ', program, ' >/dev/null 2>&1 || ', ...say];
}

function onTerminal(nonce: string, request: Request, env: Variables): TerminalScript {
  checkSize(request.terminal!);
  const variables = env.map(([name, value]) => `${name}=${value}`);
  const before = ['/usr/bin/env', `TERM=${TERM}`, ...variables];
  const viaShell = ['/bin/sh', '-c', EXEC];
  if (!isScript(request, WORD_BYTES)) {
    const words = [...(request.argv![0]!.includes('=') ? viaShell : []), ...request.argv!];
    return terminalScript(request.terminal!, quotedWords([...before, ...words]), nonce);
  }
  const shell = ownShell(request);
  const start = quotedWords(shell.includes('=') ? [...before, ...viaShell] : before);
  const name = shell === '' ? { quoted: '/bin/sh' } : SHELL;
  return terminalScript(request.terminal!, [...start, name, ...quotedWords(['-c', request.command])], nonce);
}

const quotedWords = (words: readonly string[]): ScriptPart[] => words.map((quoted) => ({ quoted }));

const assignments = (env: Variables): ScriptPart[] =>
  env.flatMap(([name, value]) => [`${name}=`, { quoted: value }, ' ']);
