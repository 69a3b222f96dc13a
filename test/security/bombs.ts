import type { ResourceLimits } from '../../lib/contract/messages.ts';

const MIB = 1024 * 1024;

export interface Bomb {
  /** Row of the table in docs/security.md. */
  row: number;
  name: string;
  command: string;
  stdin?: string;
  resources?: Partial<ResourceLimits>;
  /** In seconds. */
  timeout: number;
  /** Allowed results of the command: `CODE: message` of a refusal, or `exit N: stderr and stdout`. */
  ends: RegExp;
  /** The bench's limit of the p99 of another sandbox's Exec in ms, in place of its ratio to a quiet server. */
  mostExecMs?: number;
}

const python = (program: string): Pick<Bomb, 'command' | 'stdin'> => ({
  command: 'exec python3 -I -',
  stdin: `import ctypes, os, resource, socket, threading, time\n${program}\n`,
});
/** Two pairs of processes that only wake each other: other processes hardly run unless a quota leaves room. */
const WAKE_PAIRS = `
def wake_pairs(channel):
    os.fork()
    (take, ask), (get, answer) = channel(), channel()
    if os.fork() == 0:
        while True: take(); answer()
    while True: ask(); get()
`;
const TIMEOUT = /^DEADLINE_EXCEEDED/;
const OUT_OF_MEMORY = /^exit 137: .*memory_bytes/s;

/** Commands that exhaust a resource within the limits of one sandbox. Used by the tests and by `npm run bench:bombs`. */
export const BOMBS: readonly Bomb[] = [
  {
    row: 20,
    name: 'forks',
    command: 'f() { f | f & }; f; sleep 60',
    resources: { pids_limit: 128 },
    timeout: 2,
    // The shell itself may be the process that cannot fork.
    ends: /^(DEADLINE_EXCEEDED|exit \d+:.*[Ff]ork|RESOURCE_EXHAUSTED)/s,
  },
  {
    row: 20,
    name: 'threads',
    ...python(`
made = 0
try:
    while True:
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start(); made += 1
except RuntimeError as e: print('stopped after', made, e, flush=True)
os._exit(7 if 50 < made < 256 else 8)`),
    resources: { pids_limit: 256 },
    timeout: 20,
    ends: /^exit 7: /,
  },
  {
    row: 21,
    name: 'anonymous memory',
    ...python('a = []\nwhile True: a.append(bytearray(1 << 20))'),
    resources: { memory_bytes: 96 * MIB },
    timeout: 20,
    ends: OUT_OF_MEMORY,
  },
  {
    row: 21,
    name: 'memory of many processes',
    ...python('for _ in range(6): os.fork()\na = []\nwhile True: a.append(bytearray(1 << 20))'),
    resources: { memory_bytes: 128 * MIB },
    timeout: 6,
    ends: /^(exit 137: .*memory_bytes|DEADLINE_EXCEEDED)/s,
  },
  {
    row: 21,
    name: 'files in /tmp and /dev/shm',
    command: 'head -c 2G /dev/zero >/dev/shm/a; head -c 2G /dev/zero >/tmp/a; head -c 2G /dev/zero >~/a',
    resources: { memory_bytes: 96 * MIB },
    timeout: 20,
    ends: /^exit (137|1): .*(memory_bytes|No space)/s,
  },
  {
    row: 21,
    name: 'memfd',
    ...python("fd = os.memfd_create('x')\nwhile True: os.write(fd, bytes(1 << 20))"),
    resources: { memory_bytes: 96 * MIB },
    timeout: 20,
    ends: OUT_OF_MEMORY,
  },
  {
    row: 21,
    name: 'locked memory',
    ...python(`
import mmap
m = mmap.mmap(-1, 64 << 20)
libc = ctypes.CDLL(None, use_errno=True)
address = ctypes.addressof(ctypes.c_char.from_buffer(m))
refused = libc.mlock(ctypes.c_void_p(address), ctypes.c_size_t(64 << 20)) < 0 and libc.mlockall(7) < 0
os._exit(7 if refused else 8)`),
    timeout: 20,
    ends: /^exit 7: /,
  },
  {
    row: 21,
    name: 'kernel memory: empty files and names',
    ...python(`
i = 0
while True:
    os.close(os.open('/tmp/%0200d' % i, os.O_CREAT | os.O_WRONLY)); i += 1`),
    resources: { memory_bytes: 96 * MIB },
    timeout: 6,
    ends: /^(exit 137: .*memory_bytes|exit 1: .*No space|DEADLINE_EXCEEDED)/s,
  },
  {
    row: 22,
    name: 'CPU',
    command: 'for i in 1 2 3 4 5 6 7 8; do (while :; do :; done) & done; wait',
    timeout: 2,
    ends: TIMEOUT,
  },
  {
    row: 22,
    name: 'system calls',
    command: 'for i in 1 2 3 4; do (exec dd if=/dev/zero of=/dev/null bs=1 2>/dev/null) & done; wait',
    timeout: 2,
    ends: TIMEOUT,
  },
  {
    row: 22,
    name: 'pairs of processes that wake each other by pipes',
    ...python(`${WAKE_PAIRS}
def channel():
    reader, writer = os.pipe()
    return lambda: os.read(reader, 512), lambda: os.write(writer, bytes(512))
wake_pairs(channel)`),
    timeout: 1,
    ends: TIMEOUT,
    mostExecMs: 100,
  },
  {
    row: 22,
    name: 'pairs of processes that wake each other by eventfds',
    ...python(`${WAKE_PAIRS}
def channel():
    counter = os.eventfd(0)
    return lambda: os.eventfd_read(counter), lambda: os.eventfd_write(counter, 1)
wake_pairs(channel)`),
    timeout: 1,
    ends: TIMEOUT,
    mostExecMs: 100,
  },
  {
    row: 22,
    name: 'processes that end at once',
    ...python(`
for _ in range(3): os.fork()
while True:
    child = os.fork()
    if child == 0: os._exit(0)
    os.waitpid(child, 0)`),
    timeout: 1,
    ends: TIMEOUT,
    mostExecMs: 100,
  },
  {
    row: 23,
    name: 'descriptors, sockets, pipes, inotify',
    ...python(`
resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
libc = ctypes.CDLL(None, use_errno=True)
held = []
def fill(make):
    try:
        while len(held) < 100000: held.append(make())
    except OSError: return True
for _ in range(3): os.fork()
limits = [fill(lambda: libc.inotify_init1(0) if len(held) < 2000 else os.pipe()), fill(socket.socketpair), fill(lambda: open('/dev/null'))]
time.sleep(1)
os._exit(7 if all(limits) else 8)`),
    resources: { memory_bytes: 256 * MIB },
    timeout: 20,
    ends: /^exit (7: |137: .*memory_bytes)/s,
  },
  {
    row: 24,
    name: 'endless output',
    command: 'yes & yes >&2 & yes & wait',
    timeout: 2,
    ends: TIMEOUT,
  },
  {
    row: 44,
    name: 'lookups in the workspace',
    ...python(`
for _ in range(3): os.fork()
end = time.time() + 3
i = os.getpid() << 32
while time.time() < end:
    i += 1
    try: os.stat('/workspace/%x' % i)
    except OSError: pass`),
    timeout: 20,
    ends: /^exit 0: /,
  },
  {
    row: 44,
    name: 'changes of the workspace',
    ...python(`
for _ in range(3): os.fork()
end = time.time() + 3
mine = '/workspace/%d' % os.getpid()
os.mkdir(mine)
while time.time() < end:
    try:
        for i in range(50): open('%s/%d' % (mine, i), 'w').write('x')
        os.listdir(mine); os.rename(mine, mine + '.b'); os.rename(mine + '.b', mine)
        for i in range(50): os.unlink('%s/%d' % (mine, i))
    except OSError: pass`),
    timeout: 20,
    ends: /^exit 0: /,
  },
];
