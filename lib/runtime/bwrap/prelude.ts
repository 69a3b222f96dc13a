import { RENICE } from '../../priority.ts';
import { AGENT_DIR } from '../executor/places.ts';
import { shellQuote } from '../executor/shell-quote.ts';
import { SECCOMP_FD } from './arguments.ts';

/** Attributes that child processes inherit from the server and a sandbox must not have. */
export interface Inheritance {
  /** Descriptors that the server inherited at its own start; bwrap would pass them on into the sandbox. */
  closeFds: readonly number[];
  /** The niceness that the server had before it raised its priority; undefined: it was not raised. */
  niceness: number | undefined;
}

export interface LaunchPlan {
  bwrapPath: string;
  /** Host uid and gid; undefined: the server is not root and the sandbox shares its uid. */
  uid: number | undefined;
  argumentsFile: string;
  seccompFile: string;
  /**
   * All host paths that bwrap and its arguments use, by their canonical names: mounts elsewhere may be left out for it. Absent: it
   * needs those of the host.
   */
  needs?: readonly string[] | undefined;
}

/** Descriptor on which bwrap reads its arguments. */
const ARGUMENTS_FD = 3;
/**
 * Above that of every host daemon: when memory is short, the kernel kills sandboxes first. It can be lowered inside
 * only if the server lacks CAP_SYS_RESOURCE.
 */
const OOM_SCORE_ADJ = 200;
/**
 * The soft limit (-S) is set first, since it must not exceed the hard limit. Programs that need more raise it
 * themselves.
 */
const RLIMITS = ['-c 0', '-Sn 1024', '-Hn 16384', '-l 64', '-s 8192'];
/**
 * Maximum processes per host uid. The effective limit is pids_limit, which does not depend on uids. bash: -u, dash: -p.
 */
const NPROC = 16_384;

/** What the spawner does in place of the shell: RLIMITS and NPROC by the numbers of setrlimit(2), in its units. */
export const PROCESS = {
  umask: 0o022,
  oomScoreAdj: OOM_SCORE_ADJ,
  limits: [
    { resource: 4, soft: 0, hard: 0 },
    { resource: 7, soft: 1024, hard: 16_384 },
    { resource: 8, soft: 65_536, hard: 65_536 },
    { resource: 3, soft: 8_388_608, hard: 8_388_608 },
    { resource: 6, soft: NPROC, hard: NPROC },
  ],
};

/**
 * Returns the script that the host's /bin/sh reads on stdin before bwrap; it runs in one process, and any failure ends
 * it. It first enters the cgroups, so that nothing of the sandbox ever runs outside, then sets limits. It then waits
 * for the rest of the script; the end of stdin (the server has exited) ends it. `cgroupEntries`: the cgroup.procs files
 * to enter. Must run with an empty environment.
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
 * Returns the rest of the script: it drops root and executes bwrap. It is one command in braces, so that the shell runs
 * nothing before it has read everything, and never reads stdin again. From setpriv on (bwrap sets it again), PDEATHSIG
 * kills the process when the server exits; a server killed just before leaves a sandbox without a client, which the
 * next server kills.
 */
export function launchCommand(plan: LaunchPlan): string {
  const setpriv = setprivWords(plan)
    .map((word) => `${word} `)
    .join('');
  const [third, fourth] = launchFiles(plan);
  return [
    '{',
    `exec </dev/null ${ARGUMENTS_FD}<${shellQuote(third)} ${SECCOMP_FD}<${shellQuote(fourth)}`,
    `exec ${setpriv}${shellQuote(plan.bwrapPath)} ${BWRAP_WORDS.join(' ')}`,
    '}',
    '',
  ].join('\n');
}

/** The program, as a name and arguments, for the spawner, which does the work of setpriv itself. */
export const programWords = ({ bwrapPath }: LaunchPlan): string[] => [bwrapPath, ...BWRAP_WORDS];

/** The files that bwrap reads on ARGUMENTS_FD and SECCOMP_FD. */
export const launchFiles = ({ argumentsFile, seccompFile }: LaunchPlan): [string, string] => [
  argumentsFile,
  seccompFile,
];

/** What NEEDED stands for in `spawnerProgram`. */
export const neededWord = ({ bwrapPath, needs }: LaunchPlan): string =>
  needs === undefined ? '-' : [bwrapPath, ...needs].map((path) => `${path}\0`).join('');

const BWRAP_WORDS = ['--args', `${ARGUMENTS_FD}`, '--', '/bin/sh', `${AGENT_DIR}/agent`];

function setprivWords({ uid }: LaunchPlan): string[] {
  if (uid === undefined) return [];
  const ids = ['--reuid', `${uid}`, '--regid', `${uid}`, '--clear-groups', '--no-new-privs', '--pdeathsig', 'KILL'];
  return ['/usr/bin/setpriv', ...ids, '--inh-caps=-all', '--bounding-set=-all', '--'];
}

/** POSIX only requires shells to accept descriptors of one digit in redirections; bash accepts all. */
export const preludeShell = (closeFds: readonly number[]): string =>
  closeFds.some((fd) => fd > 9) ? '/bin/bash' : '/bin/sh';
