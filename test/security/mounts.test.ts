import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { python, type Syscall, syscalls } from './python.ts';
import { attacks } from './suite.ts';

const SETTINGS = [
  'kernel/core_pattern',
  'kernel/printk',
  'kernel/hostname',
  'kernel/modprobe',
  'vm/overcommit_memory',
  'vm/drop_caches',
  'user/max_user_namespaces',
  'net/ipv4/ip_forward',
  'fs/suid_dumpable',
];

const MOUNTS: readonly Syscall[] = [
  ['mount', 'none', '/tmp', 'tmpfs', 0, 0],
  // MS_REMOUNT | MS_BIND: read-write.
  ['mount', 'none', '/usr', 'none', 0x1020, 0],
  ['mount', '/proc', '/tmp', 'none', 0x1000, 0],
  ['mount', 'none', '/tmp', 'cgroup', 0, 0],
  ['umount2', '/workspace', 2],
  ['pivot_root', '/tmp', '/tmp'],
  ['chroot', '/tmp'],
  ['fsopen', 'tmpfs', 0],
  ['fsmount', 0, 0, 0],
  ['fsconfig', 0, 0, 0, 0, 0],
  ['fspick', 0, '/', 0],
  ['open_tree', 0, '/', 1],
  ['move_mount', 0, '/usr', 0, '/tmp', 0],
  ['mount_setattr', 0, '/usr', 0, 0, 0],
];

attacks('mounts and devices', (target) => {
  it('2: a sandbox cannot write a kernel setting', async () => {
    const { scene } = target;
    const before = SETTINGS.map((name) => readIfAny(`/proc/sys/${name}`));
    const sandbox = await scene.sandboxOn({});
    const paths = [...SETTINGS.map((name) => `/proc/sys/${name}`), '/proc/sysrq-trigger', '/proc/1/oom_score_adj'];
    // Writes the same value, so it is harmless if it works.
    const program = `
def rewrite(path):
    value = b''
    try: value = open(path, 'rb').read()
    except OSError: pass
    with open(path, 'wb', 0) as f: f.write(value or b'h')
paths = json.loads(${JSON.stringify(JSON.stringify(paths.slice(0, -1)))})
print(json.dumps([p for p in paths if attempt(rewrite, p) == 'allowed']))`;
    expect(await python(scene, sandbox, program)).toEqual([]);
    expect(SETTINGS.map((name) => readIfAny(`/proc/sys/${name}`))).toEqual(before);
  });

  it('3: a sandbox cannot mount, remount or unmount anything', async () => {
    const sandbox = await target.scene.sandboxOn({});
    const verdicts = await syscalls(target.scene, sandbox, MOUNTS);
    expect(Object.entries(verdicts).filter(([, verdict]) => !['EPERM', 'ENOSYS'].includes(verdict))).toEqual([]);
    expect((await target.scene.run(sandbox, 'mount -o remount,rw,bind /usr || touch /usr/canary')).exit_code).not.toBe(
      0,
    );
    expect(existsSync('/usr/canary')).toBe(false);
  });

  it('3: only the workspace and the temporary file systems are writable', async () => {
    const sandbox = await target.scene.sandboxOn({});
    // Each mount is probed at its own root. In a tree that is mounted read-only only two levels are searched:
    // the attempts there show that the kernel enforces it.
    const program = `
places = {line.split()[4].encode().decode('unicode_escape') for line in open('/proc/self/mountinfo')}
found = []
tried = 0
def probe(place, levels):
    global tried
    tried += 1
    if attempt(lambda: os.close(os.open(os.path.join(place, 'probe'), os.O_CREAT | os.O_WRONLY))) == 'allowed':
        found.append(place)
    elif levels > 0 and place != '/proc':
        try: below = [e.path for e in os.scandir(place) if e.is_dir(follow_symlinks=False)]
        except OSError: below = []
        for path in below:
            if path not in places: probe(path, levels - 1)
for place in places:
    if not os.path.isdir(place):
        if os.path.isfile(place) and attempt(lambda: os.close(os.open(place, os.O_WRONLY))) == 'allowed': found.append(place)
        continue
    readonly = os.statvfs(place).f_flag & os.ST_RDONLY
    probe(place, 2 if readonly else 1000)
print(json.dumps([sorted(found), '/usr' in places and bool(os.statvfs('/usr').f_flag & os.ST_RDONLY), tried > 20]))`;
    expect(await python(target.scene, sandbox, program)).toEqual([
      ['/dev/shm', '/home/sandbox', '/tmp', '/workspace'],
      true,
      true,
    ]);
  });

  it('5: a sandbox cannot create a device node, and has only harmless devices', async () => {
    const sandbox = await target.scene.sandboxOn({});
    const program = `
import stat
made = []
for kind in (stat.S_IFBLK, stat.S_IFCHR):
    for major in range(0, 260):
        for minor in (0, 1, 3):
            for place in ('/tmp', '/workspace', '/dev/shm'):
                if attempt(os.mknod, place + '/node', kind | 0o666, os.makedev(major, minor)) != 'EPERM':
                    made.append((kind, major, minor, place))
print(json.dumps(made))`;
    expect(await python(target.scene, sandbox, program)).toEqual([]);
    const devices = 'for f in $(find /dev | sort); do test -b $f -o -c $f && printf "%s " $f; done; :';
    expect(await target.scene.output(sandbox, devices)).toMatch(
      /^((\/dev\/(full|null|ptmx|pts\/ptmx|random|tty|urandom|zero)|\/dev\/(fd\/.*|std(in|out|err))) )+$/,
    );
    const forbidden = [
      'fuse',
      'kvm',
      'mem',
      'kmsg',
      'net/tun',
      'vsock',
      'vhost-vsock',
      'loop0',
      'vda',
      'sda',
      'console',
    ];
    const opened = `for d in ${forbidden.map((name) => `/dev/${name}`).join(' ')}; do test -e $d && echo $d; done; :`;
    expect(await target.scene.output(sandbox, opened)).toBe('');
  });

  it('46: bwrap creates nothing on the host through links planted at its mount points', async () => {
    const { scene, state } = target;
    const sandbox = await scene.sandboxOn({});
    const canary = join(state.directory, 'canary');
    const places = ['dev', 'proc', 'tmp', 'etc', 'usr', 'run', 'home', 'workspace', '.bwrap', 'newroot', 'oldroot'];
    const ways = [canary, `/oldroot${canary}`, `/newroot${canary}`, `../../../oldroot${canary}`];
    for (const way of ways) {
      await scene.output(sandbox, `for n in ${places.join(' ')}; do ln -sfn ${way} $n; done`);
      await scene.client.call('StopSandbox', { sandbox_id: sandbox.id });
      await scene.client.call('StartSandbox', { sandbox_id: sandbox.id });
      expect(await scene.output(sandbox, 'echo x >dev/x 2>/dev/null; readlink dev')).toBe(`${way}\n`);
      expect(existsSync(canary)).toBe(false);
    }
  });

  it('47: the directory mounted at /workspace cannot be replaced before a start', async () => {
    const { scene } = target;
    const sandbox = await scene.sandboxOn({ 'mine.txt': 'mine' });
    // From inside: the directory itself and its parent.
    const swap = 'mv /workspace /moved; rmdir /workspace; ln -s / /workspace/../workspace2; rm -rf /workspace';
    expect((await scene.run(sandbox, swap)).exit_code).not.toBe(0);
    const stop = () => scene.client.call('StopSandbox', { sandbox_id: sandbox.id });
    const start = () => scene.client.call('StartSandbox', { sandbox_id: sandbox.id });
    for (let round = 0; round < 3; round++) {
      await scene.output(sandbox, 'rm -rf ./* .[!.]* 2>/dev/null; ln -s / ..here; ln -s /etc d; :');
      await stop();
      await start();
      expect(await scene.output(sandbox, 'stat -c %F /workspace; cat /workspace/passwd 2>&1; :')).toMatch(
        /^directory\ncat: .*No such file/,
      );
    }
  });
});

function readIfAny(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
