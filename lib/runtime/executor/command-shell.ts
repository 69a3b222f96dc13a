import type { Command } from '../runtime.ts';
import type { ScriptPart } from './script-part.ts';

/** Shell text that expands to the path that `findShell` found. */
export const SHELL = '"$s"';

/** The shell of a command that is not /bin/sh; otherwise empty. */
export function ownShell({ shell = '', argv }: Pick<Command, 'shell' | 'argv'>): string {
  return shell === 'sh' || shell === '/bin/sh' || (argv !== undefined && argv.length > 0) ? '' : shell;
}

/**
 * Shell text, for a subshell of a runner, that sets `s` to the path of the shell, or reports `e` and ends the subshell. It
 * searches the sandbox's PATH, not that of the command's environment, and forks nothing. Ends in a separator.
 */
export function findShell(shell: string, nonce: string): ScriptPart[] {
  const name = { quoted: shell };
  const search = shell.startsWith('/')
    ? ['s=', name, '; [ -f "$s" ] && [ -x "$s" ]']
    : [
        's=; set -f; IFS=:; for d in $PATH; do [ -f "$d/"',
        name,
        ' ] && [ -x "$d/"',
        name,
        ' ] && s=$d/',
        name,
        ' && break; done; unset IFS; set +f; [ -n "$s" ]',
      ];
  return [...search, ` || { echo '${nonce} e 0' >&9; exit; }; `];
}
