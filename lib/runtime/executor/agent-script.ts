import { AGENT_DIR } from './places.ts';
import { shellQuote } from './shell-quote.ts';

/**
 * The sandbox's main process: a POSIX shell that only ever starts runners. It reads their names, one a line, from the
 * FIFO `ctl`; the server holds that open, so its end is the sandbox's end. A runner is orphaned at birth (the inner
 * subshell ends at once), so that the sandbox's init reaps it and not this loop.
 *
 * A shell makes background children ignore SIGINT and SIGQUIT for good, which commands would inherit; `resetSignals`
 * is a program that undoes it (`env --default-signal=INT,QUIT`), or empty where there is none.
 */
export function agentScript(resetSignals: readonly string[]): string {
  const reset = resetSignals.map((word) => `${shellQuote(word)} `).join('');
  return [
    'exec </dev/null >/dev/null 2>&1',
    'while IFS= read -r n; do',
    "  case $n in '' | *[!0-9a-f]*) exit 64 ;; esac",
    `  (${reset}/bin/sh ${AGENT_DIR}/$n.req &)`,
    `done <${AGENT_DIR}/ctl`,
    '',
  ].join('\n');
}

/** Commands are the first to go when memory is short, before the shells that serve them. */
const OOM_SCORE_ADJ = 700;

/**
 * The first line a runner reads. Its own standard streams are /dev/null, so that what a shell says about itself or a
 * killed child never mixes with a command's output; 7, 8 and 9 are the pipes for output, errors and status. Should the
 * shell give up (it cannot fork), the trap says so under the nonce `n` of the command at hand.
 */
export function bootLine(name: string, nonce: string): string {
  return [
    `exec 7>${AGENT_DIR}/${name}.out 8>${AGENT_DIR}/${name}.err 9>${AGENT_DIR}/${name}.sts`,
    `n=${nonce}`,
    `trap 'echo "$n f 0" >&9' EXIT`,
    `echo ${OOM_SCORE_ADJ} >/proc/self/oom_score_adj`,
    'echo "$n h $$" >&9\n',
  ].join('; ');
}

/** Ends an idle runner. */
export const EXIT_LINE = 'trap - EXIT; exit\n';
