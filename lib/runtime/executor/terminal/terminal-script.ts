import { MAX_STRING_BYTES } from '../../../command-limits.ts';
import type { TerminalSize } from '../../runtime.ts';
import type { ScriptPart } from '../script-part.ts';
import { shellQuote } from '../shell-quote.ts';
import { PERL_PROBE, PERL_PROGRAM } from './perl-program.ts';
import { PYTHON_PROBE, PYTHON_PROGRAM } from './python-program.ts';
import { scriptProgram } from './script-program.ts';

/** Signals that a process group may get, and that would end or stop the shell that waits for a command. */
const SIGNALS = '1 2 3 4 5 6 7 8 10 11 12 13 14 15 16 20 21 22 24 25 26 27 29 30 31';

/** Maximum bytes of a word: each is the value of a variable whose name and `=` count, too. */
export const WORD_BYTES = MAX_STRING_BYTES - 8;

export interface TerminalScript {
  /** Finds a program that makes a terminal, or reports `m` and ends the subshell. Ends in a separator. */
  find: string;
  /** Runs the words on a terminal, after `find`. Reports `p` if none can be opened. */
  run: ScriptPart[];
}

/**
 * Shell text, for a subshell of a runner, that runs `words` (a program, found by PATH, and its arguments) on a new terminal.
 * Standard input is the terminal's input, descriptor 3 its new sizes: lines of `<rows> <columns>`. The program's streams are
 * the terminal and nothing else is open in it. What is wrong is reported on descriptor 9 (see StatusLine).
 *
 * The words are in the environment of the process that passes the bytes, not in its arguments, which `ps` shows. The subshell
 * catches signals instead of ignoring them, since a program inherits what is ignored.
 */
export function terminalScript(size: TerminalSize, words: readonly ScriptPart[], nonce: string): TerminalScript {
  const exported = words.flatMap((word, index): ScriptPart[] => [`_${index}=`, word, ' ']);
  const numbers = `${size.rows} ${size.columns} ${words.length}`;
  // A shell that cannot fork exits.
  const guard = `trap "echo '${nonce} p 0' >&9" EXIT; `;
  return {
    find: [
      `${guard}trap : ${SIGNALS}; a=$(perl -e ${shellQuote(PERL_PROBE)}) && w=perl ||`,
      `{ python3 -I -S -c ${shellQuote(PYTHON_PROBE)} && w=python; } ||`,
      '{ case $(script --version) in (*util-linux*) stty --version || stty --help;; (*) false;; esac && w=script; } || {',
      `trap - EXIT; echo '${nonce} m 0' >&9; exit; }; trap - EXIT; `,
    ].join(' '),
    run: [
      guard,
      'r=$(export ',
      ...exported,
      '"_s=$SHELL"; case $w in ',
      `(perl) unset _s; exec perl -e ${shellQuote(PERL_PROGRAM)} -- ${numbers} $a ;; `,
      `(python) unset _s; exec python3 -I -S -c ${shellQuote(PYTHON_PROGRAM)} ${numbers} ;; `,
      '(*) SHELL=/bin/sh exec script -qefc ',
      { quoted: scriptProgram(size.rows, size.columns, words.length) },
      ' /dev/null 4>&- ;; esac 4>&1 >&7 7>&- 8>&- 9>&-); c=$?; trap - EXIT; ',
      `[ -z "$r" ] || echo '${nonce} p 0' >&9; exit $c`,
    ],
  };
}
