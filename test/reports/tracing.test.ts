import { expect } from 'vitest';
import { type Case, contract } from '../contract/suite.ts';

/** Numbers of ptrace(2): requests and options. */
const PTRACE = `
import ctypes, errno, os, signal
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.restype = ctypes.c_long
TRACEME, PEEKDATA, POKEDATA, CONT, ATTACH, DETACH, SETOPTIONS, SEIZE = 0, 2, 5, 7, 16, 17, 0x4200, 0x4206
def ptrace(request, pid, addr=0, data=0):
    ctypes.set_errno(0)
    value = libc.ptrace(ctypes.c_long(request), ctypes.c_long(pid), ctypes.c_void_p(addr), ctypes.c_void_p(data))
    if ctypes.get_errno(): raise OSError(ctypes.get_errno(), 'ptrace')
    return value
def fork(child):
    pid = os.fork()
    if pid == 0:
        child()
        os._exit(0)
    return pid
word = ctypes.c_long(0x1234)
where = ctypes.addressof(word)
`;

/** What a debugger does with a program that it starts, and with one that runs already. */
const DEBUGGED = `${PTRACE}
def started():
    ptrace(TRACEME, 0)
    os.kill(os.getpid(), signal.SIGSTOP)
    os._exit(word.value & 0xff)
pid = fork(started)
os.waitpid(pid, 0)
ptrace(SETOPTIONS, pid, 0, 0x100000)
print(hex(ptrace(PEEKDATA, pid, where)))
ptrace(POKEDATA, pid, where, 77)
ptrace(CONT, pid)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
pid = fork(signal.pause)
ptrace(ATTACH, pid)
os.waitpid(pid, 0)
print(hex(ptrace(PEEKDATA, pid, where)))
ptrace(DETACH, pid)
os.kill(pid, signal.SIGKILL)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))`;

const COPIED = `${PTRACE}
class iovec(ctypes.Structure): _fields_ = [('base', ctypes.c_void_p), ('len', ctypes.c_size_t)]
pid = fork(signal.pause)
mine = ctypes.c_long(99)
ours, theirs = iovec(ctypes.addressof(mine), 8), iovec(where, 8)
both = (ctypes.byref(ours), 1, ctypes.byref(theirs), 1, 0)
print(libc.process_vm_writev(pid, *both))
mine.value = 0
print(libc.process_vm_readv(pid, *both), mine.value)
os.kill(pid, signal.SIGKILL)`;

/** Two processes that trace each other, and would hold each other at their exits. */
const MUTUAL = `${PTRACE}
def verdict(*args):
    try: return ptrace(*args)
    except OSError as error: return errno.errorcode[error.errno]
pid = fork(signal.pause)
print(verdict(SEIZE, pid, 0, 0x40), verdict(SEIZE, pid, 0, 0x51), verdict(SEIZE, pid))
print([verdict(request, pid, 0, 0x40) for request in (SETOPTIONS, 21)])
os.kill(pid, signal.SIGKILL)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))`;

const python = (program: string) => ({ command: 'python3 -I -', stdin: program });

const CASES: Case[] = [
  {
    name: 'a debugger traces a program that it starts, and one that runs',
    async run(scene) {
      const { command, stdin } = python(DEBUGGED);
      expect(await scene.output(await scene.sandboxOn({}), command, { stdin })).toBe('0x1234\n77\n0x1234\n-9\n');
    },
  },
  {
    name: 'a profiler reads and writes the memory of another program',
    async run(scene) {
      const { command, stdin } = python(COPIED);
      expect(await scene.output(await scene.sandboxOn({}), command, { stdin })).toBe('8\n8 99\n');
    },
  },
  {
    name: 'no option of a tracer keeps a killed program',
    async run(scene) {
      const { command, stdin } = python(MUTUAL);
      const answers = "EPERM EPERM 0\n['EPERM', 'EPERM']\n-9\n";
      expect(await scene.output(await scene.sandboxOn({}), command, { stdin })).toBe(answers);
    },
  },
  {
    name: 'setarch -R gives a program the same addresses each time',
    async run(scene) {
      const stack = 'setarch -R sh -c "grep stack /proc/self/maps | cut -d- -f1"';
      const [first, second] = (await scene.output(await scene.sandboxOn({}), `${stack}; ${stack}`)).split('\n');
      expect(first).toMatch(/^[0-9a-f]{8,}$/);
      expect(second).toBe(first);
    },
  },
];

contract('tracing', CASES);
