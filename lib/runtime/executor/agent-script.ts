import { ENVIRONMENT } from '../sandbox-environment.ts';
import { convenience } from './convenience.ts';
import { AGENT_DIR, JAVA_OPTIONS } from './places.ts';
import { shellQuote } from './shell-quote.ts';

const FIND_SETSID = 's=/usr/bin/setsid; [ -x $s ] || s=$(command -v setsid); case $s in (/*) ;; (*) s= ;; esac';

/** See agentScript. */
export interface AgentOptions {
  resetSignals: readonly string[];
  /** Whether programs can reach other machines. */
  hasNetwork: boolean;
  /** Whether java(1) reads JAVA_OPTIONS, because programs cannot see their cgroup. */
  javaOptions?: boolean;
  forks?: boolean;
  /** Whether it says that it is up; see `AgentAnswer`. */
  answers?: boolean;
}

/**
 * Returns the script of the sandbox's main process: a POSIX shell that only starts runners. It reads their names, one
 * per line, from the FIFO `ctl`; the server holds the FIFO open, so its end ends the sandbox. It opens the FIFO for reading beside
 * a writing end of its own, which it then closes: without a server it would wait in open(2) for ever, and so reads the end. A
 * runner is orphaned at its start (the inner subshell exits at once), so that the sandbox's init reaps it instead of this loop.
 *
 * A shell makes background children ignore SIGINT and SIGQUIT permanently, which commands would inherit. `resetSignals`
 * is a program that resets them (`env --default-signal=INT,QUIT`), or empty if there is none.
 *
 * Each runner has a session of its own, if there is setsid(1): a command that signals its process group, as with
 * `trap 'kill 0' EXIT`, must reach neither this shell nor other commands. PATH may have a directory that the sandbox can write,
 * so setsid is not looked up again once a command has run.
 *
 * `forks`: setsid is /usr/bin/setsid and has --fork. It orphans the runner itself, in the foreground of this shell, where no signal is
 * ignored: one program less is executed for each runner. If the host has no room for the process, the status pipe gets a line with the
 * runner's name; it is opened in a way that does not wait for a reader. Without the
 * sandbox's LANG, which bootLine sets again, setsid loads no files of the locale: a fifth of its time.
 *
 * `answers`: once it has opened `ctl`, it writes a line to the FIFO `up`.
 */
export function agentScript({ resetSignals, hasNetwork, ...more }: AgentOptions): string {
  const { javaOptions = false, forks = false, answers = false } = more;
  const reset = resetSignals.map((word) => `${shellQuote(word)} `).join('');
  const program = `/bin/sh ${AGENT_DIR}/$n.req`;
  return [
    'exec </dev/null >/dev/null 2>&1',
    ...convenience(hasNetwork),
    ...(javaOptions ? [`export JDK_JAVA_OPTIONS=@${AGENT_DIR}/${JAVA_OPTIONS}`] : []),
    ...(forks ? [] : [FIND_SETSID]),
    '{',
    '  exec 3>&-',
    ...(answers ? [`  echo up >${AGENT_DIR}/up`] : []),
    '  while IFS= read -r n; do',
    "    case $n in '' | *[!0-9a-f]*) exit 64 ;; esac",
    forks
      ? `    LANG= /usr/bin/setsid --fork ${program} </dev/null || echo "$n f 0" 1<>${AGENT_DIR}/$n.sts`
      : `    ($s ${reset}${program} &)`,
    '  done',
    `} 3<>${AGENT_DIR}/ctl <${AGENT_DIR}/ctl`,
    '',
  ].join('\n');
}

/** When memory is short, the kernel kills commands before the shells that serve them. */
const OOM_SCORE_ADJ = 700;

/**
 * Returns the first line for a runner. Its own standard streams are /dev/null, so that the shell's messages, for
 * example about a killed child, never mix with a command's output. Descriptors 7, 8 and 9 are the pipes for output,
 * errors and status. If the shell exits (it cannot fork), the trap reports it with the nonce `n` of the current
 * command. `forks`: see agentScript.
 */
export function bootLine(name: string, nonce: string, forks: boolean): string {
  return [
    ...(forks ? [`LANG=${shellQuote(ENVIRONMENT.LANG!)}`] : []),
    `exec 7>${AGENT_DIR}/${name}.out 8>${AGENT_DIR}/${name}.err 9>${AGENT_DIR}/${name}.sts`,
    `n=${nonce}`,
    `trap 'echo "$n f 0" >&9' EXIT`,
    `echo ${OOM_SCORE_ADJ} >/proc/self/oom_score_adj`,
    'echo "$n h $$" >&9\n',
  ].join('; ');
}

/** Ends an idle runner. */
export const EXIT_LINE = 'trap - EXIT; exit\n';
