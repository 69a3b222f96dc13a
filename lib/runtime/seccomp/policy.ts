import type { SyscallName } from './syscalls.ts';

/** Linux errno values that the policy returns (include/uapi/asm-generic/errno*.h). */
export const EPERM = 1;
export const ENOSYS = 38;
export const EPROTONOSUPPORT = 93;
export const EAFNOSUPPORT = 97;

/** A test of the low 32 bits of one argument: `(arg & mask)` is, or is not, one of `values`. */
export interface ArgTest {
  arg: number;
  /** Default: all 32 bits. */
  mask?: number;
  values: readonly number[];
  when: 'in' | 'not-in';
}

/** The calls fail with `errno`; if there are tests, only when all of them hold. */
export interface Rule {
  calls: readonly SyscallName[];
  errno: number;
  tests?: readonly ArgTest[];
}

const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
const AF_NETLINK = 16;
const SOCK_STREAM = 1;
const SOCK_DGRAM = 2;
const SOCK_RAW = 3;
/** The other bits are SOCK_CLOEXEC and SOCK_NONBLOCK. */
const SOCK_TYPE = 0xf;
const IPPROTO_ICMP = 1;
const IPPROTO_TCP = 6;
const IPPROTO_UDP = 17;
const IPPROTO_ICMPV6 = 58;
const IPPROTO_RAW = 255;
const S_IFMT = 0xf000;
const S_IFCHR = 0x2000;
const S_IFBLK = 0x6000;
const PTRACE_OLDSETOPTIONS = 21;
const PTRACE_SETOPTIONS = 0x4200;
const PTRACE_SEIZE = 0x4206;
const PTRACE_O_TRACEEXIT = 0x40;
const ADDR_NO_RANDOMIZE = 0x0004_0000;
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;
/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. (NEWTIME overlaps clone()'s exit signal bits.) */
const CLONE_NAMESPACES = [0x0002_0000, 0x0200_0000, 0x0400_0000, 0x0800_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000];
const CLONE_MASK = CLONE_NAMESPACES.reduce((mask, flag) => mask | flag, 0);

/**
 * System calls that a command must not use. Every other call up to LAST_REVIEWED is allowed; a foreign architecture
 * (i386, x32, arm32) kills the process. A test examines only 32 bits: the kernel treats these arguments as 32-bit, so
 * the high bits must not matter (CVE-2019-7303).
 */
export const POLICY: readonly Rule[] = [
  // Kernel keyrings are per uid and session, not per namespace; the server's session keyring would be inherited.
  { calls: ['add_key', 'request_key', 'keyctl'], errno: EPERM },
  // Mounts and namespaces. The flags of clone3 are in memory: ENOSYS makes libc fall back to clone.
  { calls: ['mount', 'umount2', 'pivot_root', 'chroot', 'unshare', 'setns'], errno: EPERM },
  { calls: ['open_tree', 'move_mount', 'fsopen', 'fsconfig', 'fsmount', 'fspick', 'mount_setattr'], errno: ENOSYS },
  { calls: ['open_tree_attr', 'statmount', 'listmount', 'clone3'], errno: ENOSYS },
  {
    calls: ['clone'],
    errno: EPERM,
    tests: [{ arg: 0, mask: CLONE_MASK, values: [0], when: 'not-in' }],
  },
  // ptrace(2) and process_vm_*: the pid namespace and the host's uid bound them to processes of the sandbox, which all have this
  // filter. It is evaluated after a tracer has changed a call (Linux 4.8). Two processes that hold each other at their exits
  // survive SIGKILL, and with them the pid namespace and its memory.
  {
    calls: ['ptrace'],
    errno: EPERM,
    tests: [
      { arg: 0, values: [PTRACE_OLDSETOPTIONS, PTRACE_SETOPTIONS, PTRACE_SEIZE], when: 'in' },
      { arg: 3, mask: PTRACE_O_TRACEEXIT, values: [PTRACE_O_TRACEEXIT], when: 'in' },
    ],
  },
  // Descriptors of other processes, and hints for their memory.
  { calls: ['kcmp', 'pidfd_getfd', 'process_madvise', 'process_mrelease'], errno: EPERM },
  // io_uring performs operations (socket(2) among them) that no filter sees.
  { calls: ['io_uring_setup', 'io_uring_enter', 'io_uring_register'], errno: ENOSYS },
  // Large, historically vulnerable parts of the kernel that no build or test needs.
  {
    calls: ['bpf', 'perf_event_open', 'userfaultfd', 'fanotify_init', 'fanotify_mark', 'lookup_dcookie'],
    errno: EPERM,
  },
  { calls: ['memfd_secret'], errno: ENOSYS },
  { calls: ['move_pages', 'migrate_pages', 'mbind', 'set_mempolicy'], errno: EPERM },
  { calls: ['set_mempolicy_home_node', 'modify_ldt'], errno: EPERM },
  // File handles bypass path lookup and so the permission rules.
  { calls: ['name_to_handle_at', 'open_by_handle_at'], errno: EPERM },
  // Administration of the machine.
  { calls: ['kexec_load', 'kexec_file_load', 'init_module', 'finit_module', 'delete_module'], errno: EPERM },
  { calls: ['create_module', 'get_kernel_syms', 'query_module', '_sysctl', 'sysfs', 'ustat', 'uselib'], errno: ENOSYS },
  { calls: ['syslog', 'acct', 'quotactl', 'quotactl_fd', 'swapon', 'swapoff', 'reboot', 'nfsservctl'], errno: EPERM },
  { calls: ['iopl', 'ioperm', 'vhangup', 'sethostname', 'setdomainname'], errno: EPERM },
  { calls: ['settimeofday', 'clock_settime', 'clock_adjtime', 'adjtimex'], errno: EPERM },
  // Device nodes; FIFOs and sockets are allowed.
  { calls: ['mknod'], errno: EPERM, tests: [{ arg: 1, mask: S_IFMT, values: [S_IFCHR, S_IFBLK], when: 'in' }] },
  { calls: ['mknodat'], errno: EPERM, tests: [{ arg: 2, mask: S_IFMT, values: [S_IFCHR, S_IFBLK], when: 'in' }] },
  // Execution domains other than Linux (0) disable protections; 0xffffffff is a query. Debuggers fix the addresses of programs.
  {
    calls: ['personality'],
    errno: EPERM,
    tests: [{ arg: 0, values: [0, ADDR_NO_RANDOMIZE, 0xffff_ffff], when: 'not-in' }],
  },
  // Injection of terminal input from inside (CVE-2017-5226, CVE-2023-28100).
  { calls: ['ioctl'], errno: EPERM, tests: [{ arg: 1, values: [TIOCSTI, TIOCLINUX], when: 'in' }] },
  // A network namespace does not isolate vsock and similar families; of netlink only NETLINK_ROUTE (getifaddrs) is
  // needed.
  {
    calls: ['socket'],
    errno: EAFNOSUPPORT,
    tests: [{ arg: 0, values: [AF_UNIX, AF_INET, AF_INET6, AF_NETLINK], when: 'not-in' }],
  },
  {
    calls: ['socket'],
    errno: EPROTONOSUPPORT,
    tests: [
      { arg: 0, values: [AF_NETLINK], when: 'in' },
      { arg: 2, values: [0], when: 'not-in' },
    ],
  },
  // What limits and counts connections knows TCP and UDP: not MPTCP (262), UDP-Lite (136), SCTP, DCCP and the like.
  {
    calls: ['socket'],
    errno: EPROTONOSUPPORT,
    tests: [
      { arg: 0, values: [AF_INET, AF_INET6], when: 'in' },
      { arg: 2, values: [0, IPPROTO_ICMP, IPPROTO_TCP, IPPROTO_UDP, IPPROTO_ICMPV6, IPPROTO_RAW], when: 'not-in' },
    ],
  },
  {
    calls: ['socket'],
    errno: EPROTONOSUPPORT,
    tests: [
      { arg: 0, values: [AF_INET, AF_INET6], when: 'in' },
      { arg: 1, mask: SOCK_TYPE, values: [SOCK_STREAM, SOCK_DGRAM, SOCK_RAW], when: 'not-in' },
    ],
  },
  { calls: ['socketpair'], errno: EAFNOSUPPORT, tests: [{ arg: 0, values: [AF_UNIX], when: 'not-in' }] },
];
