import { POLICY } from '../seccomp/policy.ts';
import { type SeccompProfile, seccompProfile } from './seccomp-profile.ts';

/** Calls that creating sandboxes needs: mounts and namespaces, for bwrap and the workspace file system. */
const SANDBOX_MAKING = [
  ...['mount', 'umount2', 'pivot_root', 'chroot', 'unshare', 'setns', 'clone', 'clone3', 'sethostname'],
  ...['open_tree', 'move_mount', 'fsopen', 'fsconfig', 'fsmount', 'fspick', 'mount_setattr', 'statmount', 'listmount'],
];

/**
 * The profile for a container of the service itself (deploy/seccomp.json): the policy of sandboxes except
 * SANDBOX_MAKING. Sandboxes in it have the complete policy in addition.
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
