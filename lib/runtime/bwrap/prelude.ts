import { AGENT_DIR } from '../executor/places.ts';
import { shellQuote } from '../executor/shell-quote.ts';
import { SECCOMP_FD } from './arguments.ts';

export interface LaunchPlan {
  bwrapPath: string;
  /** Host uid and gid; undefined: the server is no root and the sandbox shares its uid. */
  uid: number | undefined;
  /** cgroup.procs files to enter first. */
  cgroupEntries: readonly string[];
  argumentsFile: string;
  seccompFile: string;
  /** Descriptors the server itself was started with: bwrap would pass them on into the sandbox. */
  closeFds: readonly number[];
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
 * What /bin/sh on the host runs on the way to bwrap, in one process: into the cgroups first, so that nothing of the
 * sandbox was ever outside; then limits; then the loss of root; then bwrap. Any failure ends it.
 * Runs with an empty environment.
 */
export function prelude(plan: LaunchPlan): string {
  const setpriv =
    plan.uid === undefined
      ? ''
      : `/usr/bin/setpriv --reuid ${plan.uid} --regid ${plan.uid} --clear-groups --no-new-privs --inh-caps=-all --bounding-set=-all -- `;
  return [
    'set -e; umask 022; unset OLDPWD SHLVL',
    ...(plan.closeFds.length > 0 ? [`exec ${plan.closeFds.map((fd) => `${fd}>&-`).join(' ')}`] : []),
    ...plan.cgroupEntries.map((file) => `echo 0 >${shellQuote(file)}`),
    `{ echo ${OOM_SCORE_ADJ} >/proc/self/oom_score_adj; } 2>/dev/null || :`,
    ...RLIMITS.map((limit) => `ulimit ${limit} 2>/dev/null || :`),
    `ulimit -u ${NPROC} 2>/dev/null || ulimit -p ${NPROC} 2>/dev/null || :`,
    `exec ${ARGUMENTS_FD}<${shellQuote(plan.argumentsFile)} ${SECCOMP_FD}<${shellQuote(plan.seccompFile)}`,
    `exec ${setpriv}${shellQuote(plan.bwrapPath)} --args ${ARGUMENTS_FD} -- /bin/sh ${AGENT_DIR}/agent`,
  ].join('\n');
}

/** POSIX shells need only take descriptors of one digit; bash takes any. */
export const preludeShell = (closeFds: readonly number[]): string =>
  closeFds.some((fd) => fd > 9) ? '/bin/bash' : '/bin/sh';
