/**
 * The test files and directories that run in virtual machines. Each list is run by a machine of its own; the machines
 * run concurrently. Tests that do not depend on the kernel are left out, because emulation is 20 times slower.
 */

/** Tests that depend on cgroups: limits, kills, places, and attacks on them. They take a minute of guest time. */
export const CI = [
  ['test/vm', 'test/lib/runtime/cgroup'],
  ['test/lib/runtime/bwrap/limits.test.ts', 'test/security/posture.test.ts', 'test/security/processes.test.ts'],
];

/** These, and the tests whose result may depend on the kernel: bwrap, seccomp, FUSE, restarts, Docker. */
export const ALL = [
  [
    'test/vm',
    'test/lib/runtime/cgroup',
    'test/lib/runtime/bwrap',
    'test/lib/runtime/executor',
    'test/lib/fuse/probe.test.ts',
    'test/lib/linux',
    'test/lib/fuse/notifications.test.ts',
    'test/lib/workspaces/namespace.test.ts',
    'test/lib/workspaces/rules.test.ts',
  ],
  [
    'test/security/posture.test.ts',
    'test/security/processes.test.ts',
    'test/security/mounts.test.ts',
    'test/security/neighbours.test.ts',
    'test/security/syscalls.test.ts',
    'test/contract/restart.test.ts',
    'test/contract/exec.test.ts',
    'test/lib/runtime/docker/launch.test.ts',
    'test/lib/runtime/docker/owner-cgroups.test.ts',
    'test/lib/runtime/docker/owner-limits.test.ts',
  ],
];
