/**
 * Bombs that need several calls. Each is `{name, create, run}`: `create` has the fields of its CreateSandbox request;
 * `run` gets `exec(command, more)`, which runs a command in the sandbox and never throws, and `call(method, path)` for
 * paths below the sandbox.
 */
const python = (program) => ({ command: 'exec python3 -I -', stdin: `import ctypes, os, sys, time\n${program}\n` });
const times = (count, make) => Promise.all(Array.from({ length: count }, (_, index) => make(index)));
const END_MS = 3000;

/** Stops all idle shells except its own, and fills the request pipes that they read from. */
const STOP_SHELLS = `for p in /proc/[0-9]*; do [ $p = /proc/$PPID ] && continue
case $(tr '\\0' ' ' <$p/cmdline) in '/bin/sh /run/agent/'*) kill -STOP \${p#/proc/}
for fd in $p/fd/1[0-9]; do dd if=/dev/zero of=$fd bs=4096 count=300 oflag=nonblock 2>/dev/null; done;; esac; done; :`;

/** Bombs against the main thread: the executor and the adapters. */
const OF_COMMANDS = [
  {
    name: 'stopped shells, full pipes',
    run: async ({ exec, until }) => {
      do {
        await times(8, () => exec('sleep 0.1', { timeout: 5 }));
        await exec(STOP_SHELLS, { timeout: 5 });
      } while (until(END_MS));
    },
  },
  {
    name: '400 processes splice into stdout',
    create: { resources: { pids_limit: 512 } },
    run: async ({ exec }) => {
      const { command, stdin } = python(`
libc = ctypes.CDLL(None, use_errno=True)
page = ctypes.create_string_buffer(65536)
class iovec(ctypes.Structure): _fields_ = [('base', ctypes.c_void_p), ('len', ctypes.c_size_t)]
iov = iovec(ctypes.addressof(page), 65536)
for _ in range(400):
    if os.fork() == 0:
        end = time.time() + 4
        while time.time() < end: libc.vmsplice(1, ctypes.byref(iov), 1, 0)
        os._exit(0)
time.sleep(1)`);
      await exec(command, { stdin, timeout: 20 });
      await exec('sleep 4', { timeout: 20 });
    },
  },
  {
    name: 'commands of 1 MB in flight',
    run: ({ exec }) => {
      const env = Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`A${index}`, "'".repeat(130_000)]));
      return times(60, () => exec('sleep 3', { env, timeout: 10 }));
    },
  },
  {
    name: '60 answers of 16 MiB whose every byte is escaped',
    run: ({ exec }) => times(60, () => exec('head -c 9M /dev/zero; head -c 9M /dev/zero >&2', { timeout: 30 })),
  },
  {
    name: '64 commands with endless output',
    run: ({ exec }) => times(64, () => exec('yes & yes >&2', { timeout: 3 })),
  },
  {
    name: '40 background processes that flood their output',
    run: async ({ exec }) => {
      await times(40, () => exec('timeout 3 yes & :', { timeout: 10 }));
      await exec('sleep 2', { timeout: 10 });
    },
  },
  {
    name: '900 background processes, one for each command',
    create: { resources: { pids_limit: 1024 } },
    run: async ({ exec, until }) => {
      await exec('i=0; while [ $i -lt 900 ]; do sleep 30 & i=$((i+1)); done >/dev/null 2>&1', { timeout: 20 });
      do await times(8, () => exec('sleep 5 >/dev/null 2>&1 </dev/null &', { timeout: 5 }));
      while (until(END_MS));
    },
  },
];

/** Bombs against the request worker of the file system. */
const OF_WORKSPACES = [
  {
    name: 'nested directories, committed after each command',
    create: { auto_commit: 'on_exec' },
    run: ({ exec }) => {
      const { command, stdin } = python(`
for i in range(20000):
    try: os.mkdir('d'); os.chdir('d')
    except OSError: break`);
      return exec(command, { stdin, timeout: 60 });
    },
  },
  {
    name: 'symlinks of 4 KB',
    run: ({ exec }) => {
      const { command, stdin } = python(`
end = time.time() + 8
i = 0
try:
    while time.time() < end: os.symlink('t' * 4000, 'l%d' % i); i += 1
except OSError: pass`);
      return exec(command, { stdin, timeout: 60 });
    },
  },
  {
    name: 'repeated renames of a large directory',
    create: { preset: 'development', permissions: [] },
    run: async ({ exec }) => {
      const make = 'mkdir -p src/d; cd src/d; i=0; while [ $i -lt 20000 ]; do : >f$i; i=$((i+1)); done';
      await exec(make, { timeout: 60 });
      await exec('cd src; end=$(($(date +%s)+4)); while [ $(date +%s) -lt $end ]; do mv d e; mv e d; done', {
        timeout: 20,
      });
    },
  },
  {
    name: 'repeated listings of changes of 256 MiB',
    run: async ({ exec, call, until }) => {
      await exec('for i in 1 2 3 4 5 6 7 8; do head -c 32M /dev/zero >f$i; done', { timeout: 60 });
      do await call('GET', '/changes');
      while (until(2 * END_MS));
    },
  },
];

export const CLIENT_BOMBS = [...OF_COMMANDS, ...OF_WORKSPACES];
