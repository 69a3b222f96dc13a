import type { Sandbox } from '../../lib/contract/messages.ts';
import { SYSCALLS, type SyscallName } from '../../lib/runtime/seccomp/syscalls.ts';
import type { Scene } from '../contract/scene.ts';

const COLUMN = process.arch === 'arm64' ? 1 : 0;

/** The kernel's answer: `allowed`, or the name of the errno. */
export type Verdict = string;

/** A call by its name in the policy, or by its number. `bytes` are passed as an address. */
export type Syscall = readonly [name: SyscallName | number, ...args: (number | string)[]];

export const PRELUDE = `
import ctypes, errno, json, os, socket, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
parent = os.getpid()
def word(arg):
    return arg.encode() if isinstance(arg, str) else ctypes.c_ulong(arg)
def call(nr, *args):
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(nr), *map(word, args))
    if os.getpid() != parent: os._exit(0)
    return 'allowed' if result >= 0 else errno.errorcode[ctypes.get_errno()]
def attempt(act, *args):
    try:
        act(*args)
        return 'allowed'
    except OSError as e:
        return errno.errorcode.get(e.errno, str(e))
`;

/** Runs python in the sandbox; `answer` is the JSON that the program printed. System calls need no compiler. */
export async function python<T>(scene: Scene, sandbox: Sandbox, program: string, more: object = {}): Promise<T> {
  const stdin = `${PRELUDE}\n${program}\n`;
  return JSON.parse(await scene.output(sandbox, 'exec python3 -I -', { stdin, ...more })) as T;
}

/** Makes each call in the sandbox. Names that this architecture lacks are omitted. */
export function syscalls(scene: Scene, sandbox: Sandbox, calls: readonly Syscall[]): Promise<Record<string, Verdict>> {
  const rows = calls.flatMap(([name, ...args]) => {
    const number = typeof name === 'number' ? name : SYSCALLS[name][COLUMN];
    return typeof number === 'number' ? [[`${[name, ...args].join(' ')}`, number, ...args]] : [];
  });
  return python(
    scene,
    sandbox,
    `print(json.dumps({row[0]: call(*row[1:]) for row in json.loads(${JSON.stringify(JSON.stringify(rows))})}))`,
  );
}
