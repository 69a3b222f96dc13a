import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { hide, read, view, write } from '../contract/rules.ts';
import { eventually } from '../contract/scene.ts';
import type { State } from '../contract/server.ts';
import { python } from './python.ts';
import { attacks } from './suite.ts';

const MIB = 1024 * 1024;
const MAX_BYTES = 64 * MIB;
const MAX_FILES = 3000;

/** Every operation on a path, by python's functions or else by system call number; each on `p`. */
const OPERATIONS = `
import fcntl, mmap
def xattr(p): os.setxattr(p, 'user.x', b'x')
look = {
  'stat': os.stat, 'lstat': os.lstat, 'statvfs': os.statvfs, 'readlink': os.readlink, 'getxattr': lambda p: os.getxattr(p, 'user.x'),
  'listxattr': os.listxattr, 'access': lambda p: os.stat(p) and None, 'opendir': os.listdir,
  'open': lambda p: os.close(os.open(p, os.O_RDONLY)), 'O_PATH': lambda p: os.close(os.open(p, os.O_PATH)),
  'exec': lambda p: os.execv(p, ['x']), 'chdir': os.chdir, 'through /proc': lambda p: os.stat('/proc/self/cwd/' + p),
  'inotify': lambda p: watch(p),
}
change = {
  'write': lambda p: os.close(os.open(p, os.O_WRONLY)), 'append': lambda p: os.close(os.open(p, os.O_WRONLY | os.O_APPEND)),
  'read and write': lambda p: os.close(os.open(p, os.O_RDWR)), 'O_TRUNC': lambda p: os.close(os.open(p, os.O_RDONLY | os.O_TRUNC)),
  'truncate': lambda p: os.truncate(p, 0), 'chmod': lambda p: os.chmod(p, 0o777), 'chown': lambda p: os.chown(p, 1000, 1000),
  'utime': lambda p: os.utime(p, (1, 1)), 'setxattr': xattr, 'unlink': os.unlink,
  'rename away': lambda p: os.rename(p, 'mine/stolen'), 'link': lambda p: os.link(p, 'mine/linked'),
  'rename over': lambda p: (open('mine/tmp', 'w').close(), os.rename('mine/tmp', p)),
  'create': lambda p: os.close(os.open(p, os.O_CREAT | os.O_EXCL | os.O_WRONLY)), 'mkdir': os.mkdir,
  'symlink': lambda p: os.symlink('mine', p), 'mkfifo': os.mkfifo, 'link over': lambda p: (open('mine/tmp', 'w').close(), os.link('mine/tmp', p)),
  'exchange': lambda p: exchange('mine/x', p),
}
def exchange(a, b):
    open(a, 'w').close()
    if libc.renameat2(-100, a.encode(), -100, b.encode(), 2) < 0: raise OSError(ctypes.get_errno(), 'renameat2')
def watch(p):
    if libc.inotify_add_watch(libc.inotify_init1(0), p.encode(), 0xfff) < 0: raise OSError(ctypes.get_errno(), 'inotify')
os.chdir('/workspace')
def verdicts(table, p):
    return {name: attempt(act, p) for name, act in table.items()}
`;

attacks(
  'workspace',
  (target) => {
    it('27: the changes of a sandbox are limited in bytes and files, also on the host’s disk', async () => {
      const { scene, state } = target;
      const sandbox = await scene.sandboxOn({});
      const full = await scene.run(sandbox, 'head -c 1G /dev/zero >big; ls -l big | cut -d" " -f5');
      expect(full.stderr).toMatch(/quota|No space/i);
      expect(Number(full.stdout)).toBeLessThanOrEqual(MAX_BYTES);
      expect(hostBytes(state)).toBeLessThan(MAX_BYTES * 1.25);
      const program = `
os.unlink('/workspace/big')
made = 0
try:
    while made < 100000:
        os.close(os.open('/workspace/%d' % made, os.O_CREAT | os.O_WRONLY)); made += 1
except OSError as e: print(json.dumps([made, errno.errorcode[e.errno]]))`;
      const [made, why] = await python<[number, string]>(scene, sandbox, program);
      expect(made).toBeLessThanOrEqual(MAX_FILES);
      expect(['EDQUOT', 'ENOSPC']).toContain(why);
      // Another sandbox can still write, and so can this one after it freed space.
      const other = await scene.sandboxOn({});
      expect(await scene.output(other, 'echo x >a; cat a')).toBe('x\n');
      expect(await scene.output(sandbox, "find . -name '*0' -delete; echo y >again; cat again")).toBe('y\n');
    });

    it('28: holes, preallocation and extreme offsets give no disk space beyond the quota', async () => {
      const { scene, state } = target;
      const sandbox = await scene.sandboxOn({});
      const program = `
os.chdir('/workspace')
def sized(size):
    fd = os.open('f', os.O_CREAT | os.O_RDWR)
    try: os.ftruncate(fd, size)
    finally: os.close(fd)
def allocate(size, mode=0):
    fd = os.open('g', os.O_CREAT | os.O_RDWR)
    try:
        if libc.fallocate(fd, mode, ctypes.c_long(0), ctypes.c_long(size)) < 0: raise OSError(ctypes.get_errno(), 'fallocate')
    finally: os.close(fd)
def far(offset):
    fd = os.open('h', os.O_CREAT | os.O_RDWR)
    try: os.pwrite(fd, b'x' * 4096, offset)
    finally: os.close(fd)
tried = {}
for size in (1 << 40, 1 << 50, (1 << 63) - 1):
    tried['truncate %d' % size] = attempt(sized, size)
    tried['fallocate %d' % size] = attempt(allocate, size)
    tried['keep size %d' % size] = attempt(allocate, size, 1)
    tried['write at %d' % size] = attempt(far, size - 4096)
print(json.dumps(tried))`;
      const tried = await python<Record<string, string>>(scene, sandbox, program);
      expect(
        Object.entries(tried).filter(
          ([, verdict]) => !['EDQUOT', 'ENOSPC', 'EFBIG', 'EINVAL', 'ENOTSUP', 'allowed'].includes(verdict),
        ),
      ).toEqual([]);
      expect(hostBytes(state)).toBeLessThan(MAX_BYTES * 1.25);
      expect(await scene.output(sandbox, 'rm -f f g h; echo x >a; cat a')).toBe('x\n');
    });

    it('29: trees of the maximum depth and names of every byte are used, committed, discarded and destroyed completely', async () => {
      const { scene, state } = target;
      const sandbox = await scene.sandboxOn({});
      const program = `
os.chdir('/workspace')
for name in (b'n' * 255, b'-rf', b'a\\nb', b'\\x1b[31m', b'\\xff\\xfe', b'*', b'..a', b' ', b'\\xe2\\x80\\xae'): open(name, 'w').close()
long = attempt(open, b'n' * 256, 'w')
deep = 0
try:
    for deep in range(20000): os.mkdir('d'); os.chdir('d')
except OSError as e: refused = errno.errorcode[e.errno]
print(json.dumps([long, deep, refused]))`;
      expect(await python(scene, sandbox, program)).toEqual(['ENAMETOOLONG', 2048, 'ENAMETOOLONG']);
      const discarded = await scene.client.call('Discard', { sandbox_id: sandbox.id, paths: ['a\nb'] });
      expect(discarded).toMatchObject({ discarded: 1 });
      const committed = await scene.client.call('Commit', { sandbox_id: sandbox.id });
      expect(committed).toMatchObject({ committed: true, count: 2048 + 8 });
      await scene.client.call('StopSandbox', { sandbox_id: sandbox.id });
      await scene.client.call('StartSandbox', { sandbox_id: sandbox.id });
      expect(await scene.output(sandbox, 'find . -mindepth 1 -maxdepth 1 -printf x')).toBe('x'.repeat(9));
      await scene.client.call('DestroySandbox', { sandbox_id: sandbox.id });
      await eventually('no delta left', async () =>
        ['deltas', 'layers'].some((place) =>
          readdirSync(join(state.directory, 'mounts', place)).some((name) => name.includes(sandbox.id)),
        )
          ? undefined
          : true,
      );
    });

    it('40: a hidden path does not exist for any operation, and cannot be created', async () => {
      const { scene } = target;
      const files = { 'secret/key': 'hidden', 'mine/a': 'a', 'shown/a': 'a', 'plain.txt': 'p' };
      const rules = [write('mine/'), read('plain.txt'), hide('secret/'), view('shown/')];
      const sandbox = await scene.sandboxOn(files, rules);
      const program = `${OPERATIONS}
print(json.dumps([{p: [verdicts(look, p), verdicts(change, p)] for p in ('secret', 'secret/key', 'secret/absent')},
                  verdicts(look, 'shown/a'), verdicts(change, 'shown/a'), os.listdir('.')]))`;
      const [hidden, seen, changed, listed] = await python<
        [
          Record<string, [Record<string, string>, Record<string, string>]>,
          Record<string, string>,
          Record<string, string>,
          string[],
        ]
      >(scene, sandbox, program);
      for (const [path, [look, change]] of Object.entries(hidden)) {
        expect(new Set(Object.values(look)), path).toEqual(new Set(['ENOENT']));
        const answers = ['ENOENT', 'EACCES', 'EPERM', 'ENOTSUP', 'EOPNOTSUPP'];
        expect(
          Object.entries(change).filter(([, verdict]) => !answers.includes(verdict)),
          path,
        ).toEqual([]);
      }
      const allowed = (all: Record<string, string>) =>
        Object.keys(all)
          .filter((name) => all[name] === 'allowed')
          .sort();
      // VIEW: the existence of a file, and nothing of its contents.
      expect(allowed(seen)).toEqual(['O_PATH', 'access', 'lstat', 'stat', 'statvfs', 'through /proc'].sort());
      expect(allowed(changed)).toEqual([]);
      expect(listed.sort()).toEqual(['mine', 'plain.txt', 'shown']);
      expect(
        await scene.content(await scene.client.call('GetCodebase', { codebase_id: sandbox.codebase_id }), 'secret/key'),
      ).toBe('hidden');
    });

    it('42: no operation changes a READ file: mapping, reopening, appending, truncating', async () => {
      const { scene } = target;
      const sandbox = await scene.sandboxOn({ 'mine/a': 'a', 'fixed.txt': 'as it was' }, [
        write('mine/'),
        read('fixed.txt'),
      ]);
      const program = `${OPERATIONS}
changed = verdicts(change, 'fixed.txt')
fd = os.open('fixed.txt', os.O_RDONLY)
changed['mmap'] = attempt(lambda: mmap.mmap(fd, 9, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE))
changed['reopen'] = attempt(lambda: os.close(os.open('/proc/self/fd/%d' % fd, os.O_WRONLY)))
changed['fchmod'] = attempt(os.fchmod, fd, 0o666)
changed['ftruncate'] = attempt(os.ftruncate, fd, 0)
changed['pwrite'] = attempt(os.pwrite, fd, b'x', 0)
private = mmap.mmap(fd, 9, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_WRITE)
private[0:2] = b'XX'
private.close()
print(json.dumps([changed, open('fixed.txt').read()]))`;
      const [changed, content] = await python<[Record<string, string>, string]>(scene, sandbox, program);
      expect(Object.entries(changed).filter(([, verdict]) => verdict === 'allowed')).toEqual([]);
      expect(content).toBe('as it was');
    });

    it('42: a write to its pages through /proc/self/mem does not change a READ file', async () => {
      const { scene } = target;
      const codebase = await scene.codebase({ 'fixed.txt': 'as it was' });
      const sandbox = await scene.sandbox(codebase, [read('fixed.txt')]);
      const program = `
libc.mmap.restype = ctypes.c_void_p
fd = os.open('/workspace/fixed.txt', os.O_RDONLY)
verdicts = []
for flags in (1, 2):
    at = libc.mmap(None, ctypes.c_size_t(4096), 1, flags, fd, ctypes.c_long(0))
    def poke():
        with open('/proc/self/mem', 'r+b', 0) as mem:
            mem.seek(at); mem.write(b'XX')
    verdicts.append(attempt(poke))
print(json.dumps(open('/workspace/fixed.txt').read()))`;
      expect(await python(scene, sandbox, program)).toBe('as it was');
      expect(await scene.output(await scene.sandbox(codebase), 'cat fixed.txt')).toBe('as it was');
    });

    it('43: FIFOs, sockets and locks left in a workspace block neither the server nor the sandbox', async () => {
      const { scene } = target;
      const sandbox = await scene.sandboxOn({ 'a.txt': 'a' });
      await python(
        scene,
        sandbox,
        `
os.chdir('/workspace')
os.mkfifo('fifo'); os.remove('a.txt'); os.mkfifo('a.txt')
s = socket.socket(socket.AF_UNIX); verdict = attempt(s.bind, 'socket')
os.symlink('/dev/zero', 'zero'); os.symlink('loop', 'loop'); os.symlink('/proc/self/root', 'root')
print(json.dumps(verdict))`,
      );
      const { codebase_id } = sandbox;
      expect(
        (await scene.client.call('ListFiles', { codebase_id, recursive: true })).files.map(({ path }) => path),
      ).toEqual(['a.txt']);
      expect(await scene.content(await scene.client.call('GetCodebase', { codebase_id }), 'a.txt')).toBe('a');
      await scene.client.upload(codebase_id, 'fifo', 'from outside');
      await scene.client.call('StopSandbox', { sandbox_id: sandbox.id });
      await scene.client.call('StartSandbox', { sandbox_id: sandbox.id });
      expect(await scene.output(sandbox, 'test -p a.txt && test -p fifo && echo still')).toBe('still\n');
    });

    it('35: a link does not lead to the host, and the codebase’s file API follows no link', async () => {
      const { scene, state } = target;
      const sandbox = await scene.sandboxOn({ 'a.txt': 'a' });
      const host = join(state.directory, 'metadata.json');
      expect(existsSync(host)).toBe(true);
      const other = await scene.codebase({ 'b.txt': 'b' });
      const ways = [
        host,
        `/proc/1/root${host}`,
        `/newroot${host}`,
        `../${other.id}/files/b.txt`,
        `../../codebases`,
        '../..',
      ];
      const links = ways.map((way, index) => `ln -s '${way}' l${index}`).join('; ');
      const seen = await scene.output(sandbox, `${links}; cat l* 2>/dev/null; ls l*/ 2>/dev/null; :`);
      for (const found of ['codebases', 'sandboxes', other.id, state.directory]) expect(seen).not.toContain(found);
      for (let index = 0; index < ways.length; index++) {
        const answer = await scene.rest.send('GET', `/v1/codebases/${sandbox.codebase_id}/files/l${index}`);
        expect(answer.status).toBe(404);
      }
    });

    it('45: no other user of the machine can access a workspace', async () => {
      const { scene, state } = target;
      const sandbox = await scene.sandboxOn({ 'a.txt': 'a' });
      const other = await scene.sandboxOn({});
      const uidOf = (place: string) => Number(spawnSync('stat', ['-c', '%u', place]).stdout.toString());
      const workspace = join(mountOf(state), sandbox.id, 'workspace');
      const uid = uidOf(workspace);
      for (const nobody of [65_534, 1000, uidOf(join(mountOf(state), other.id, 'workspace'))]) {
        expect(nobody).not.toBe(uid);
        for (const command of [
          `ls ${workspace}`,
          `cat ${workspace}/a.txt`,
          `echo x >${workspace}/b`,
          `ls ${mountOf(state)}`,
        ]) {
          const args = [
            '--reuid',
            String(nobody),
            '--regid',
            String(nobody),
            '--clear-groups',
            '/bin/sh',
            '-c',
            command,
          ];
          const { status, stdout, stderr } = spawnSync('setpriv', args, { cwd: '/' });
          expect([command, status !== 0, stdout.toString()]).toEqual([command, true, '']);
          expect(stderr.toString()).toMatch(/[Pp]ermission denied/);
        }
      }
    });
  },
  { sandbox: { max_delta_bytes: MAX_BYTES, max_delta_files: MAX_FILES } },
);

/** Returns the disk usage of a server's deltas. */
function hostBytes(state: State): number {
  const places = ['deltas', 'layers'].map((name) => join(state.directory, 'mounts', name));
  const { stdout } = spawnSync('du', ['-s', '-c', '-B1', ...places]);
  return Number(stdout.toString().trim().split('\n').at(-1)!.split('\t')[0]);
}

function mountOf(state: State): string {
  const own = join(state.directory, 'mounts/fs');
  const name = createHash('sha256').update(join(state.directory, 'mounts')).digest('hex').slice(0, 16);
  return existsSync(own) ? own : `/run/paddock/workspaces-${name}`;
}
