import { expect, it } from 'vitest';
import { python, syscalls } from './python.ts';
import { attacks } from './suite.ts';

/** Leaves a mark in every resource that two processes of one machine can share, or searches for it. */
const SHARED = (act: 'leave' | 'look') => `
import fcntl, mmap, glob
found = []
act = ${JSON.stringify(act)}
def mark(path):
    if act == 'leave': open(path, 'w').write('mine')
    elif os.path.exists(path): found.append(path)
for path in ('/dev/shm/mark', '/tmp/mark', '/var/tmp/mark', '/home/sandbox/mark', '/workspace/mark'): mark(path)
# System V: shared memory, semaphores, messages, by key.
KEY = 0x5a5a
flags = (0o1000 | 0o666) if act == 'leave' else 0o666
for name, args in (('shmget', (KEY, 4096, flags)), ('semget', (KEY, 1, flags)), ('msgget', (KEY, flags))):
    if getattr(libc, name)(*args) >= 0: found.append(name)
librt = ctypes.CDLL('librt.so.1', use_errno=True)
mq = librt.mq_open(b'/mark', os.O_RDWR | (os.O_CREAT if act == 'leave' else 0), 0o666, None)
if mq >= 0: found.append('mqueue')
address = '\\0mark'
s = socket.socket(socket.AF_UNIX)
if act == 'leave':
    s.bind(address); s.listen()
    t = socket.socket(); t.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); t.bind(('0.0.0.0', 4004)); t.listen()
    if os.fork() == 0:
        os.setsid()
        for fd in (0, 1, 2): os.dup2(os.open('/dev/null', os.O_RDWR), fd)
        import time; time.sleep(60)
        os._exit(0)
else:
    for family, to in ((socket.AF_UNIX, address), (socket.AF_INET, ('127.0.0.1', 4004))):
        if attempt(socket.socket(family).connect, to) == 'allowed': found.append(str(to))
    # Locks on files that all sandboxes see (a covert channel, not a way in) need write access or a lease.
    for path in glob.glob('/run/agent/*'):
        if attempt(open, path, 'r+') == 'allowed': found.append(path)
print(json.dumps(found))`;

attacks('neighbours', (target) => {
  it('10: a sandbox cannot use keyrings, so none is shared', async () => {
    const sandbox = await target.scene.sandboxOn({});
    const verdicts = await syscalls(target.scene, sandbox, [
      ['add_key', 'user', 'mark', 'value', 5, 0xffff_fffd],
      ['keyctl', 0, 0xffff_fffd, 1],
      ['keyctl', 1, 'mark'],
      ['request_key', 'user', 'mark', 0, 0],
    ]);
    expect(new Set(Object.values(verdicts))).toEqual(new Set(['EPERM']));
  });

  it('19: marks left in one sandbox are not found in another of the same codebase', async () => {
    const { scene } = target;
    const codebase = await scene.codebase({ 'a.txt': 'a' });
    const [one, other] = [await scene.sandbox(codebase), await scene.sandbox(codebase)];
    expect(await python(scene, one, SHARED('leave'))).toEqual(['shmget', 'semget', 'msgget', 'mqueue']);
    // The sandbox itself finds its marks …
    expect((await python<string[]>(scene, one, SHARED('look'))).length).toBeGreaterThan(9);
    // … and no other does.
    expect(await python(scene, other, SHARED('look'))).toEqual([]);
  });

  it('19: marks of a destroyed sandbox are not found in the next one, which gets its uid', async () => {
    const { scene, state } = target;
    const codebase = await scene.codebase({});
    const one = await scene.sandbox(codebase);
    await python(scene, one, SHARED('leave'));
    await scene.client.call('DestroySandbox', { sandbox_id: one.id });
    expect(state.processes()).toEqual([]);
    const next = await scene.sandbox(codebase);
    expect(await python(scene, next, SHARED('look'))).toEqual([]);
  });

  it('19: a sandbox that exhausts its per-user limits does not reduce those of another', async () => {
    const { scene } = target;
    const [one, other] = [await scene.sandboxOn({}), await scene.sandboxOn({})];
    // Per user: processes, inotify instances, pipe pages, message queues.
    const program = `
import fcntl
ino, pipes = [], []
libc.inotify_init1.restype = ctypes.c_int
for _ in range(1000):
    fd = libc.inotify_init1(0)
    if fd < 0: break
    ino.append(fd)
if act == 'all':
    if os.fork() == 0:
        os.setsid()
        for fd in (0, 1, 2): os.dup2(os.open('/dev/null', os.O_RDWR), fd)
        import time; time.sleep(60)
        os._exit(0)
print(json.dumps(len(ino)))`;
    const all = await python<number>(scene, one, `act = 'all'\n${program}`);
    expect(all).toBeGreaterThan(10);
    expect(await python<number>(scene, other, `act = 'some'\n${program}`)).toBe(all);
  });
});
