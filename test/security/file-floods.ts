/**
 * Floods of file requests by one sandbox, and the file work of another one beside them. The programs are Python's, in
 * /workspace.
 */
export interface FileFlood {
  name: string;
  program: string;
}

/** Starts `processes` that each run `body` until they are killed, and waits. */
const forked = (processes: number, prepare: string, body: string) => `
import mmap, os, signal, sys, time
page = mmap.mmap(-1, 1 << 20)
page.write(b'x' * (1 << 20))
${prepare}
print('ready', flush=True)
for number in range(${processes}):
    if os.fork() == 0:
        name = f'flood-{number}'
        try:
            while True:
${body
  .trim()
  .split('\n')
  .map((line) => `                ${line}`)
  .join('\n')}
        finally: os._exit(0)
time.sleep(600)`;

const LARGE_FILE = `
with open('large', 'wb') as file:
    for _ in range(64): file.write(bytes(page))
def direct(flags, path): return os.open(path, flags | os.O_DIRECT | os.O_CREAT, 0o600)`;

export const FILE_FLOODS: readonly FileFlood[] = [
  {
    name: '64 processes read 1 MiB with O_DIRECT',
    program: forked(
      64,
      LARGE_FILE,
      `
fd = direct(os.O_RDONLY, 'large')
while True:
    for at in range(64): os.preadv(fd, [page], at << 20)`,
    ),
  },
  {
    name: '900 processes read 1 MiB with O_DIRECT',
    program: forked(
      900,
      LARGE_FILE,
      `
fd = direct(os.O_RDONLY, 'large')
while True:
    for at in range(64): os.preadv(fd, [page], at << 20)`,
    ),
  },
  {
    name: '64 processes write 1 MiB with O_DIRECT',
    program: forked(
      64,
      LARGE_FILE,
      `
fd = direct(os.O_RDWR, 'large')
while True: os.pwritev(fd, [page], number << 20)`,
    ),
  },
  {
    name: '64 processes create and unlink',
    program: forked(
      64,
      '',
      `
os.close(os.open(name, os.O_CREAT | os.O_WRONLY))
os.unlink(name)`,
    ),
  },
  {
    name: '64 processes look up absent names',
    program: forked(
      64,
      'count = 0',
      `
count += 1
try: os.stat(f'{name}-{count}')
except OSError: pass`,
    ),
  },
  {
    name: '16 processes list a directory of 20,000 names that changes',
    program: forked(
      16,
      `
os.mkdir('many')
for number in range(20000): os.close(os.open(f'many/{number}', os.O_CREAT | os.O_WRONLY))`,
      `
os.close(os.open(f'many/{name}', os.O_CREAT | os.O_WRONLY))
os.listdir('many')
os.unlink(f'many/{name}')`,
    ),
  },
  {
    name: '64 processes sync what they write',
    program: forked(
      64,
      '',
      `
fd = os.open(name, os.O_CREAT | os.O_WRONLY)
while True:
    os.pwrite(fd, b'x' * 4096, 0)
    os.fsync(fd)`,
    ),
  },
  {
    name: '64 processes rename',
    program: forked(
      64,
      '',
      `
os.close(os.open(name, os.O_CREAT | os.O_WRONLY))
os.mkdir(name + '.dir')
while True:
    os.rename(name, name + '.to')
    os.rename(name + '.to', name)
    os.rename(name + '.dir', name + '.dir.to')
    os.rename(name + '.dir.to', name + '.dir')`,
    ),
  },
  {
    name: '32 processes write mapped memory',
    program: forked(
      32,
      '',
      `
fd = os.open(name, os.O_CREAT | os.O_RDWR)
os.ftruncate(fd, 4 << 20)
mapped = mmap.mmap(fd, 4 << 20)
while True:
    for at in range(0, 4 << 20, 4096): mapped[at] = (mapped[at] + 1) & 255
    mapped.flush()`,
    ),
  },
];

/** Creates, writes, reads and unlinks a file for `seconds`, and prints the time of each such work in ms as JSON. */
export const fileWork = (seconds: number): string => `
import json, os, time
times = []
end = time.perf_counter() + ${seconds}
while time.perf_counter() < end:
    began = time.perf_counter()
    fd = os.open('work', os.O_CREAT | os.O_RDWR)
    os.write(fd, b'x' * 4096)
    os.pread(fd, 4096, 0)
    os.close(fd)
    os.unlink('work')
    times.append((time.perf_counter() - began) * 1000)
    time.sleep(0.002)
print(json.dumps(times))`;
