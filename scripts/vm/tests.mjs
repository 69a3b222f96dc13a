/**
 * Which tests run in the virtual machine, files and folders. Each list is for a machine of its own, the machines run at
 * the same time. What the kernel has no part in is left out: an emulated machine takes 20 times as long.
 */

/** What depends on the kernel's cgroups: limits, kills, places, and the attacks on them. One minute of the machine's time. */
export const CI = [
  ['test/vm', 'test/lib/runtime/cgroup'],
  ['test/lib/runtime/bwrap/limits.test.ts', 'test/security/posture.test.ts', 'test/security/processes.test.ts'],
];

/** And what another kernel than the build machine's could answer differently: bwrap, seccomp, FUSE, restarts, Docker. */
export const ALL = [
  [
    'test/vm',
    'test/lib/runtime/cgroup',
    'test/lib/runtime/bwrap',
    'test/lib/runtime/executor',
    'test/lib/fuse/mount.test.ts',
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
  ],
];
