import { expect, it } from 'vitest';
import { eventually } from '../contract/scene.ts';
import { EXIT_0, elf } from './elf.ts';
import { pidsOf } from './host.ts';
import { PRELUDE, python, type Syscall, syscalls } from './python.ts';
import { attacks } from './suite.ts';

const NEWUSER = 0x1000_0000;
const NAMESPACES = [0x0002_0000, 0x0200_0000, 0x0400_0000, 0x0800_0000, NEWUSER, 0x2000_0000, 0x4000_0000, 0x80];
const SIGCHLD = 17;
const [PTRACE_SETOPTIONS, PTRACE_SEIZE] = [0x4200, 0x4206];
const PTRACE_O_TRACEEXIT = 0x40;
const PTRACE_O_SUSPEND_SECCOMP = 0x20_0000;

/** By row: the calls, and the allowed results. */
const REFUSED: readonly [row: string, answers: readonly string[], calls: readonly Syscall[]][] = [
  [
    '4: no namespace of one’s own',
    ['EPERM', 'ENOSYS'],
    [
      ...NAMESPACES.map((flag): Syscall => ['unshare', flag]),
      ...NAMESPACES.slice(0, -1).map((flag): Syscall => ['clone', flag | SIGCHLD, 0, 0, 0, 0]),
      ['clone3', 0, 0],
      ['setns', 0, NEWUSER],
      ['setns', 0, 0],
    ],
  ],
  [
    '8: no io_uring',
    ['ENOSYS'],
    [
      ['io_uring_setup', 1, 0],
      ['io_uring_enter', 0, 0, 0, 0, 0, 0],
      ['io_uring_register', 0, 0, 0, 0],
    ],
  ],
  [
    '11: no descriptors of other processes, no tracer that keeps a killed process or lifts a filter',
    ['EPERM', 'EACCES'],
    [
      ['ptrace', PTRACE_SEIZE, 1, 0, PTRACE_O_TRACEEXIT],
      ['ptrace', PTRACE_SEIZE, 1, 0, PTRACE_O_TRACEEXIT | 1],
      ['ptrace', PTRACE_SEIZE, 1, 0, PTRACE_O_SUSPEND_SECCOMP],
      ['ptrace', PTRACE_SETOPTIONS, 1, 0, PTRACE_O_TRACEEXIT],
      ['ptrace', 21, 1, 0, PTRACE_O_TRACEEXIT],
      ['pidfd_getfd', 0, 0, 0],
      ['kcmp', 1, 1, 0, 0, 0],
      ['process_madvise', 0, 0, 0, 0, 0],
      ['process_mrelease', 0, 0],
    ],
  ],
  [
    '11: nothing of the machine and of rarely used parts of the kernel',
    ['EPERM', 'ENOSYS'],
    [
      ['bpf', 0, 0, 0],
      ['perf_event_open', 0, 0, 0, 0, 0],
      ['userfaultfd', 0],
      ['fanotify_init', 0, 0],
      ['open_by_handle_at', 0, 0, 0],
      ['name_to_handle_at', 0, '/', 0, 0, 0],
      ['syslog', 3, 0, 0],
      ['acct', 0],
      ['quotactl', 0, 0, 0, 0],
      ['swapon', '/none', 0],
      ['reboot', 0, 0, 0, 0],
      ['init_module', 0, 0, ''],
      ['finit_module', 0, '', 0],
      ['kexec_load', 0, 0, 0, 0],
      ['iopl', 3],
      ['ioperm', 0, 1, 1],
      ['sethostname', 'x', 1],
      ['setdomainname', 'x', 1],
      ['clock_settime', 0, 0],
      ['settimeofday', 0, 0],
      ...[8, 0x002_0000, 0x010_0000, 0x040_0000, 0x044_0000].map((domain): Syscall => ['personality', domain]),
      ['modify_ldt', 0, 0, 0],
      ['mbind', 0, 0, 0, 0, 0, 0],
      ['memfd_secret', 0],
      // Newer than the last review of the list.
      [600, 0, 0, 0],
    ],
  ],
];

/** A program asks for its pid; its tracer puts another call in place of that. Linux runs filters after the tracer (4.8). */
const REPLACED = `
libc.ptrace.restype = ctypes.c_long
ORIG_RAX, RAX, RDI = 15 * 8, 10 * 8, 14 * 8
def ptrace(request, addr=0, data=0):
    return libc.ptrace(ctypes.c_long(request), ctypes.c_long(pid), ctypes.c_void_p(addr), ctypes.c_void_p(data))
pid = os.fork()
if pid == 0:
    libc.ptrace(0, 0, 0, 0)
    os.kill(os.getpid(), 19)
    while True: libc.getppid()
os.waitpid(pid, 0)
ptrace(0x4200, 0, 1)
def step():
    ptrace(24)
    os.waitpid(pid, 0)
def replace(nr, first):
    step()
    while ptrace(3, ORIG_RAX) != 110: step()
    ptrace(6, RDI, first)
    ptrace(6, ORIG_RAX, nr)
    step()
    return ptrace(3, RAX)
answers = [replace(39, 0) == pid, replace(272, ${NEWUSER}), replace(161, 0), replace(425, 1), replace(41, 40)]
os.kill(pid, 9)
print(json.dumps(answers))`;

/** Holds every process that it may, except those that started it; the answer is their number. */
const HELD = `
import signal
libc.ptrace.restype = ctypes.c_long
own = {os.getpid()}
pid = os.getppid()
while pid > 2:
    own.add(pid)
    pid = int(open(f'/proc/{pid}/stat').read().rsplit(')', 1)[1].split()[1])
held = 0
for pid in sorted(int(name) for name in os.listdir('/proc') if name.isdigit()):
    if pid in own: continue
    if libc.ptrace(0x4206, pid, 0, 0) == 0 and libc.ptrace(0x4207, pid, 0, 0) == 0: held += 1
open('/tmp/held', 'w').write(f'{held}\\n')
signal.pause()`;

attacks('system calls', (target) => {
  it.each(REFUSED)('%s', async (_, answers, calls) => {
    const sandbox = await target.scene.sandboxOn({});
    const verdicts = await syscalls(target.scene, sandbox, calls);
    expect(Object.entries(verdicts).filter(([, verdict]) => !answers.includes(verdict))).toEqual([]);
  });

  it('6: a sandbox cannot inject input into a terminal, in any encoding of the request', async () => {
    const sandbox = await target.scene.sandboxOn({});
    const program = `
import pty, termios
master, slave = pty.openpty()
verdicts = {}
for request in (0x5412, 0x541c):
    for high in (0, 1 << 32, 0xdead << 32):
        ctypes.set_errno(0)
        byte = ctypes.create_string_buffer(b'x')
        nr = ${process.arch === 'arm64' ? 29 : 16}
        result = libc.syscall(ctypes.c_long(nr), ctypes.c_ulong(slave), ctypes.c_ulong(request | high), byte)
        verdicts[hex(request | high)] = 'allowed' if result >= 0 else errno.errorcode[ctypes.get_errno()]
os.set_blocking(master, False)
verdicts['typed'] = attempt(os.read, master, 1)
print(json.dumps(verdicts))`;
    const { typed, ...verdicts } = await python<Record<string, string>>(target.scene, sandbox, program);
    expect(new Set(Object.values(verdicts))).toEqual(new Set(['EPERM']));
    expect(typed).toBe('EAGAIN');
  });

  it('7: a sandbox can create sockets of unix, inet, inet6 and routing netlink only, in any encoding of the family', async () => {
    const sandbox = await target.scene.sandboxOn({});
    const program = `
nr = ${process.arch === 'arm64' ? 198 : 41}
def ask(family, kind, protocol):
    ctypes.set_errno(0)
    fd = libc.syscall(ctypes.c_long(nr), ctypes.c_ulong(family), ctypes.c_ulong(kind), ctypes.c_ulong(protocol))
    if fd >= 0: os.close(fd)
    return 'allowed' if fd >= 0 else errno.errorcode[ctypes.get_errno()]
open_ = set()
for family in list(range(0, 64)) + [(1 << 32) | f for f in range(0, 64)]:
    for kind in (1, 2, 3, 5):
        for protocol in (0, 1, 6, 12, 15, 33, 132, 136, 262):
            if ask(family, kind, protocol) == 'allowed': open_.add((family & 0xffffffff, kind, protocol))
print(json.dumps(sorted(open_)))`;
    const open = await python<[number, number, number][]>(target.scene, sandbox, program);
    expect([...new Set(open.map(([family]) => family))].sort((a, b) => a - b)).toEqual([1, 2, 10, 16]);
    const isInet = ([family]: [number, number, number]) => family === 2 || family === 10;
    // MPTCP, UDP-Lite and the like pass round what counts and limits TCP and UDP.
    expect(open.filter((each) => isInet(each) && (each[2] > 17 || each[1] === 5))).toEqual([]);
    // SOCK_RAW of inet needs a capability over the network namespace; of netlink, only NETLINK_ROUTE.
    expect(open.filter((each) => isInet(each) && each[1] === 3)).toEqual([]);
    expect(open.filter(([family, , protocol]) => family === 16 && protocol !== 0)).toEqual([]);
  });

  it.runIf(process.arch === 'x64').each([
    ['int 0x80', [0xb8, 20, 0, 0, 0, 0xcd, 0x80, ...EXIT_0]],
    ['int 0x80: socketcall', [0xb8, 102, 0, 0, 0, 0xcd, 0x80, ...EXIT_0]],
    ['x32 getpid', [0xb8, 39, 0, 0, 0x40, 0x0f, 0x05, ...EXIT_0]],
    ['x32 ptrace', [0xb8, 9, 2, 0, 0x40, 0x0f, 0x05, ...EXIT_0]],
  ])('9: a call of another architecture (%s) ends the program', async (_, code) => {
    const { scene } = target;
    const sandbox = await scene.sandboxOn({});
    const run = (stdin: string) => scene.run(sandbox, 'base64 -d >/tmp/p; chmod +x /tmp/p; /tmp/p', { stdin });
    expect(await run(elf(EXIT_0))).toMatchObject({ exit_code: 0 });
    expect(await run(elf(code))).toMatchObject({ exit_code: 128 + 31 });
  });

  it.runIf(process.arch === 'x64')('11: a call that a tracer puts in place of another meets the filter', async () => {
    const sandbox = await target.scene.sandboxOn({});
    // A refused call has the errno, negated: EPERM, ENOSYS, EAFNOSUPPORT.
    expect(await python(target.scene, sandbox, REPLACED)).toEqual([true, -1, -1, -38, -97]);
  });

  it('11: ptrace and process_vm_readv reach no process beyond the sandbox', async () => {
    const { scene, state, server } = target;
    const [sandbox, other] = [await scene.sandboxOn({}), await scene.sandboxOn({})];
    await scene.output(other, 'sleep 8103 >/dev/null 2>&1 &');
    const pids = [server.pid, process.pid, process.ppid, ...pidsOf(state)].filter((pid) => pid > 1000);
    expect(pids.length).toBeGreaterThan(5);
    const program = `
class iovec(ctypes.Structure): _fields_ = [('base', ctypes.c_void_p), ('len', ctypes.c_size_t)]
word = ctypes.c_long()
part = iovec(ctypes.addressof(word), 8)
def refused(act, *args):
    ctypes.set_errno(0)
    return 'allowed' if act(*args) >= 0 else errno.errorcode[ctypes.get_errno()]
both = (ctypes.byref(part), 1, ctypes.byref(part), 1, 0)
verdicts = set()
for pid in ${JSON.stringify(pids)}:
    for request in (16, 0x4206): verdicts.add(refused(libc.ptrace, request, pid, None, None))
    for act in (libc.process_vm_readv, libc.process_vm_writev): verdicts.add(refused(act, pid, *both))
print(json.dumps(sorted(verdicts)))`;
    expect(await python(scene, sandbox, program)).toEqual(['ESRCH']);
  });

  it('11: a program that holds the shells, the agent and the first process of its sandbox stops only that one', async () => {
    const { scene } = target;
    const [sandbox, other] = [await scene.sandboxOn({ 'a.txt': 'kept' }), await scene.sandboxOn({})];
    const stdin = `${PRELUDE}${HELD}`;
    const hold =
      'cat >/tmp/hold; python3 -I /tmp/hold </dev/null >/tmp/said 2>&1 & until [ -s /tmp/held ]; do :; done; cat /tmp/held';
    expect(Number(await scene.output(sandbox, hold, { stdin }))).toBeGreaterThanOrEqual(2);
    await scene.run(sandbox, 'true', { timeout: 1 }).catch(() => undefined);
    expect(await scene.output(other, 'echo unharmed')).toBe('unharmed\n');
    const before = performance.now();
    await scene.client.call('StopSandbox', { sandbox_id: sandbox.id });
    expect(performance.now() - before).toBeLessThan(1500);
    await scene.client.call('StartSandbox', { sandbox_id: sandbox.id });
    expect(await scene.output(sandbox, 'cat a.txt')).toBe('kept');
  });

  it('11: rewriting the sandbox’s first process, which has the same filter, only ends that sandbox', async () => {
    const { scene } = target;
    const [sandbox, other] = [await scene.sandboxOn({ 'a.txt': 'kept' }), await scene.sandboxOn({})];
    const filters = await scene.output(sandbox, 'grep -h ^Seccomp: /proc/[0-9]*/status | sort -u');
    expect(filters).toBe('Seccomp:\t2\n');
    const program = `
code = [line.split() for line in open('/proc/1/maps') if ' r-xp ' in line]
def overwrite():
    with open('/proc/1/mem', 'r+b', 0) as mem:
        for fields in code:
            start, end = (int(part, 16) for part in fields[0].split('-'))
            if attempt(lambda: (mem.seek(start), mem.write(b'\\xcc' * (end - start)))) != 'allowed': continue
verdict = attempt(overwrite)
os.system('(true &)')
print(json.dumps(verdict))`;
    await python(scene, sandbox, program).catch(() => undefined);
    expect(await scene.output(other, 'echo unharmed')).toBe('unharmed\n');
    await eventually('a sandbox that runs again', async () => {
      const { status } = await scene.client.call('StartSandbox', { sandbox_id: sandbox.id });
      if (status !== 'SANDBOX_RUNNING') return undefined;
      return scene.output(sandbox, 'cat a.txt').catch(() => undefined);
    });
  });
});
