import { RENICE } from '../../priority.ts';
import { AGENT_DIR } from '../executor/places.ts';
import { shellQuote } from '../executor/shell-quote.ts';
import { SECCOMP_FD } from './arguments.ts';

/** What a process that the server starts has of it, and a sandbox must not have. */
export interface Inheritance {
  /** Descriptors the server itself was started with: bwrap would pass them on into the sandbox. */
  closeFds: readonly number[];
  /** The server's is raised, and this is what it was; undefined: it is not. */
  niceness: number | undefined;
}

export interface LaunchPlan {
  bwrapPath: string;
  /** Host uid and gid; undefined: the server is no root and the sandbox shares its uid. */
  uid: number | undefined;
  argumentsFile: string;
  seccompFile: string;
}

const ARGUMENTS_FD = 3;
/**
 * Above every host daemon's: the machine short of memory ends sandboxes first. Inside it can be lowered only
 * where the server lacks CAP_SYS_RESOURCE.
 */
const OOM_SCORE_ADJ = 200;
/** Programs that need more than the soft limit (-S, set first: it may not be above the hard one) raise it themselves. */
const RLIMITS = ['-c 0', '-Sn 1024', '-Hn 16384', '-l 64', '-s 8192'];
/** Processes per host uid; the real bound is pids_limit, which does not depend on uids. bash: -u, dash: -p. */
const NPROC = 16_384;

/**
 * What /bin/sh on the host reads on its stdin on the way to bwrap, all in one process and any failure ending it. First
 * what needs no sandbox yet: into the cgroups, so that nothing of the sandbox was ever outside; then limits. It then
 * waits for the rest; the end of its stdin (the server is gone) ends it.
 * `cgroupEntries`: cgroup.procs files to enter. Runs with an empty environment.
 */
export function prelude(cgroupEntries: readonly string[], { closeFds, niceness }: Inheritance): string {
  return [
    'set -e; umask 022; unset OLDPWD SHLVL',
    ...(closeFds.length > 0 ? [`exec ${closeFds.map((fd) => `${fd}>&-`).join(' ')}`] : []),
    ...cgroupEntries.map((file) => `echo 0 >${shellQuote(file)}`),
    ...(niceness === undefined ? [] : [`${RENICE} -n ${niceness} -p $$`]),
    `{ echo ${OOM_SCORE_ADJ} >/proc/self/oom_score_adj; } 2>/dev/null || :`,
    ...RLIMITS.map((limit) => `ulimit ${limit} 2>/dev/null || :`),
    `ulimit -u ${NPROC} 2>/dev/null || ulimit -p ${NPROC} 2>/dev/null || :`,
    '',
  ].join('\n');
}

/**
 * The rest: the loss of root, then bwrap. One command in braces: the shell runs nothing of it before it has all of it,
 * and then never reads its stdin again. From setpriv on (bwrap says so again) the end of the server ends it; one that is
 * killed in the moment before leaves a sandbox that nobody speaks to, and that the next server ends.
 */
export function launchCommand(plan: LaunchPlan): string {
  const setpriv =
    plan.uid === undefined
      ? ''
      : `/usr/bin/setpriv --reuid ${plan.uid} --regid ${plan.uid} --clear-groups --no-new-privs --pdeathsig KILL --inh-caps=-all --bounding-set=-all -- `;
  return [
    '{',
    `exec </dev/null ${ARGUMENTS_FD}<${shellQuote(plan.argumentsFile)} ${SECCOMP_FD}<${shellQuote(plan.seccompFile)}`,
    `exec ${setpriv}${shellQuote(plan.bwrapPath)} --args ${ARGUMENTS_FD} -- /bin/sh ${AGENT_DIR}/agent`,
    '}',
    '',
  ].join('\n');
}

/** POSIX shells need only take descriptors of one digit; bash takes any. */
export const preludeShell = (closeFds: readonly number[]): string =>
  closeFds.some((fd) => fd > 9) ? '/bin/bash' : '/bin/sh';
