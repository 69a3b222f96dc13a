import { POLICY } from '../seccomp/policy.ts';
import { type SeccompProfile, seccompProfile } from './seccomp-profile.ts';

/** What making sandboxes takes: mounts and namespaces, for bwrap and for the workspace file system. */
const SANDBOX_MAKING = [
  ...['mount', 'umount2', 'pivot_root', 'chroot', 'unshare', 'setns', 'clone', 'clone3', 'sethostname'],
  ...['open_tree', 'move_mount', 'fsopen', 'fsconfig', 'fsmount', 'fspick', 'mount_setattr', 'statmount', 'listmount'],
];

/**
 * For a container of the service itself (deploy/seccomp.json): the sandboxes' own policy but for SANDBOX_MAKING. The
 * sandboxes in it have their whole policy on top.
 */
export function serviceProfile(arch: 'x64' | 'arm64'): SeccompProfile {
  const policy = POLICY.map((rule) => ({
    ...rule,
    calls: rule.calls.filter((call) => !SANDBOX_MAKING.includes(call)),
  }));
  return seccompProfile(
    arch,
    policy.filter(({ calls }) => calls.length > 0),
  );
}
