import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { RunningSandbox, SandboxSpec } from '../../../../lib/runtime/runtime.ts';
import { EAFNOSUPPORT, ENOSYS, EPERM } from '../../../../lib/runtime/seccomp/policy.ts';
import { SYSCALLS, type SyscallName } from '../../../../lib/runtime/seccomp/syscalls.ts';
import { run } from '../run.ts';
import { NO_SPAWNER, useBwrap } from './fixture.ts';
import { syscallProbe } from './perl.ts';

const spawned = useBwrap();
const unspawned = useBwrap(NO_SPAWNER);

describe.each([
  ['made for itself', false, spawned],
  ['that was ready', true, spawned],
  ['without a spawner', false, unspawned],
])('a sandbox %s', (_, ready, bwrap) => {
  let spec: SandboxSpec;
  let box: RunningSandbox;
  beforeAll(async () => {
    spec = bwrap.spec();
    box = await (ready ? bwrap.launchReady(spec) : bwrap.runtime.launch(spec));
    return () => box.stop();
  });

  const stdout = async (text: string, more = {}) => (await run(box, text, more)).stdout;
  const column = process.arch === 'arm64' ? 1 : 0;

  async function onHost(program: string, stdin: string): Promise<string> {
    const child = execFile(program);
    child.stdin?.end(stdin);
    let said = '';
    child.stdout?.on('data', (data) => {
      said += data;
    });
    await once(child, 'close');
    return said;
  }

  /** Makes each call with the given arguments in the sandbox. Returns its errno, or `allowed`. */
  async function probe(
    calls: readonly (readonly [SyscallName, ...(number | string)[]])[],
  ): Promise<Map<string, string>> {
    const known = calls.flatMap(([name, ...args]) => {
      const nr = SYSCALLS[name][column];
      return nr === null ? [] : [[`${name}(${args.join()})`, nr, ...args] as const];
    });
    const result = await run(box, 'perl', { stdin: syscallProbe(known) });
    expect(result.stderr).toBe('');
    return new Map(
      result.stdout
        .trim()
        .split('\n')
        .map((line) => [line.slice(0, line.lastIndexOf(' ')), line.split(' ').pop()!]),
    );
  }
  const all = (calls: Map<string, string>, errno: number) =>
    expect([...calls].filter(([, got]) => got !== `${errno}`)).toEqual([]);

  function statusOf(pid: string): string {
    try {
      return readFileSync(`/proc/${pid}/status`, 'latin1');
    } catch {
      return '';
    }
  }

  describe('the identity and privileges of a command', () => {
    it('include no capabilities and no new privileges, and a seccomp filter applies', async () => {
      const status = await stdout('cat /proc/self/status');
      for (const set of ['Inh', 'Prm', 'Eff', 'Bnd', 'Amb'])
        expect(status).toMatch(new RegExp(`^Cap${set}:\t0{16}$`, 'm'));
      expect(status).toMatch(/^NoNewPrivs:\t1$/m);
      expect(status).toMatch(/^Seccomp:\t2$/m);
      expect(await stdout('id')).toBe('uid=1000(sandbox) gid=1000(sandbox) groups=1000(sandbox)\n');
    });

    it('are the sandbox’s own host uid and gid, without groups, for every process as seen from the host', async () => {
      await run(box, 'sleep 30 >/dev/null 2>&1 &');
      // Read once, because an idle runner may be ending.
      const mine = readdirSync('/proc')
        .filter((name) => /^\d+$/.test(name))
        .map(statusOf)
        .filter((status) => status.includes(`Uid:\t${spec.uid}\t`) && !/^State:\tZ/m.test(status));
      expect(mine.length).toBeGreaterThanOrEqual(4);
      for (const status of mine) {
        const ids = Array(4).fill(spec.uid).join('\t');
        expect(status).toContain(`\nUid:\t${ids}\nGid:\t${ids}\n`);
        expect(status).toMatch(/^Groups:\t\s*$/m);
        expect(status).toMatch(/^CapEff:\t0{16}$/m);
        expect(status).toMatch(/^NoNewPrivs:\t1$/m);
        // The outermost bwrap is outside of the sandbox's namespaces.
        if (/^NSpid:.*\t.*\t/m.test(status)) expect(status).toMatch(/^Seccomp:\t2$/m);
      }
    });

    it('are not extended by setuid programs', async () => {
      expect(
        await stdout('cp /usr/bin/id /tmp/id && chmod 4755 /tmp/id && /tmp/id -u; su -c id </dev/null 2>/dev/null; :'),
      ).toBe('1000\n');
    });
  });

  describe('the environment of a command', () => {
    it('has exactly three descriptors', async () => {
      expect(await stdout('ls -l /proc/self/fd | grep -c " -> "')).toBe('4\n');
      expect(await stdout('ls -l /proc/self/fd')).toMatch(
        / 0 -> \/dev\/null\n.* 1 -> \/run\/agent\S+ .*\n.* 2 -> .*\n.* 3 -> \/proc\//,
      );
      expect(
        await stdout('for p in /proc/[0-9]*; do ls -l $p/fd; done 2>/dev/null | grep -E "/dev/fuse|/tmp/paddock"; :'),
      ).toBe('');
    });

    it('has fixed variables and none of the server’s', async () => {
      const names = (await stdout('env'))
        .split('\n')
        .map((line) => line.split('=')[0])
        .filter(Boolean);
      const convenient = /^(CI|DEBIAN_FRONTEND|GIT_PAGER|GIT_TERMINAL_PROMPT|PAGER|PIP_[A-Z_]+|npm_config_[a-z_]+)$/;
      const others = (all: readonly (string | undefined)[]) =>
        all.filter((name) => !convenient.test(name ?? '')).sort();
      expect(others(names)).toEqual(['HOME', 'LANG', 'LOGNAME', 'PATH', 'PWD', 'SHELL', 'TERM', 'USER']);
      const everything = await stdout("cat /proc/[0-9]*/environ | tr '\\0' '\\n' | cut -d= -f1 | sort -u");
      expect(others(everything.trim().split('\n'))).toEqual(
        ['HOME', 'LANG', 'LOGNAME', 'PATH', 'PWD', 'SHELL', 'SHLVL', 'TERM', 'USER'].filter((name) =>
          everything.includes(name),
        ),
      );
    });

    it('has its own limits', async () => {
      const limits = await stdout('cat /proc/self/limits');
      expect(limits).toMatch(/^Max core file size +0 +0 /m);
      expect(limits).toMatch(/^Max open files +1024 +16384 /m);
      expect(Number(await stdout('cat /proc/self/oom_score_adj'))).toBeGreaterThan(500);
      expect(await stdout('umask')).toBe('0022\n');
    });

    it('has the default action of every signal', async () => {
      expect(await stdout('grep ^SigIgn /proc/self/status')).toMatch(/SigIgn:\t0{16}/);
    });
  });

  describe('the visible files of a sandbox', () => {
    it('include no paths of the host', async () => {
      const seen = await stdout(
        'cat /proc/self/mountinfo /proc/self/mounts /proc/[0-9]*/cmdline; ls -lR /proc/self/cwd/ /run /etc/ 2>/dev/null',
      );
      // Workspace and HOME of these tests are plain directories; those of a server are in a mount with their own names.
      const leaks = seen
        .split('\n')
        .filter((line) => line.includes('paddock') && !/ \/(workspace|home\/sandbox) /.test(line));
      expect(leaks).toEqual([]);
      expect(seen).not.toContain(spec.id);
    });

    it('include no processes of others', async () => {
      const commands = await stdout('ls -d /proc/[0-9]* | wc -l');
      expect(Number(commands)).toBeLessThan(15);
      expect(await run(box, `kill -0 ${process.pid}`)).toMatchObject({ exitCode: 1 });
    });

    it('include no user, host name or name service of the host', async () => {
      expect(
        await stdout('cut -d: -f1 /etc/passwd | tr "\\n" " "; hostname; ls /etc/shadow /etc/ssh 2>/dev/null'),
      ).toBe('root sandbox nobody sandbox\n');
      // The name server of its own network, where none is until that is opened.
      expect(await stdout('grep ^nameserver /etc/resolv.conf')).toBe('nameserver 127.0.0.1\n');
    });

    it.each([
      'keys',
      'key-users',
      'kallsyms',
      'cmdline',
      'config.gz',
      'kcore',
      'timer_list',
      'iomem',
      'modules',
      'interrupts',
      'kmsg',
      'sysrq-trigger',
      'sched_debug',
      'kpagecount',
    ])('do not include /proc/%s', async (name) => {
      expect(await run(box, `head -c 1 /proc/${name} | grep -q .`)).toMatchObject({ exitCode: 1 });
      expect(await run(box, `echo 1 >/proc/${name}`)).toMatchObject({ exitCode: 2 });
    });

    it('include nothing of the machine in /sys, and only harmless devices', async () => {
      // Without limits there is none, or on cgroup v2 the sandbox's own cgroup.
      expect(await stdout('ls /sys /sys/fs 2>/dev/null; :')).toMatch(
        /^(\/sys:\nfs\n\n\/sys\/fs:\ncgroup\ncommands\n)?$/,
      );
      expect(await stdout('ls /dev')).toBe(
        'core\nfd\nfull\nnull\nptmx\npts\nrandom\nshm\nstderr\nstdin\nstdout\ntty\nurandom\nzero\n',
      );
    });
  });

  describe('the writable files of a sandbox', () => {
    it('are in the workspace, in HOME and in temporary file systems of limited size', async () => {
      const places = [
        '/',
        '/usr',
        '/usr/bin',
        '/etc',
        '/dev',
        '/proc',
        '/proc/sys/kernel',
        '/run',
        '/run/agent',
        '/home',
        '/var',
        '/bin',
      ];
      expect(await stdout(`for d in ${places.join(' ')}; do touch $d/probe 2>/dev/null && echo $d; done; :`)).toBe('');
      expect(await run(box, 'touch /workspace/p /tmp/p /var/tmp/p /dev/shm/p ~/p')).toMatchObject({ exitCode: 0 });
      const sizes = await stdout('df -B1 --output=target,size /tmp /dev/shm');
      expect(sizes.match(/\d{8,}/g)).toEqual(['268435456', '67108864']);
    });

    it('include no kernel setting', async () => {
      for (const name of [
        'kernel/core_pattern',
        'kernel/printk',
        'kernel/hostname',
        'vm/overcommit_memory',
        'user/max_user_namespaces',
        'net/ipv4/ip_forward',
      ]) {
        expect(await run(box, `cat /proc/sys/${name} >/tmp/v; cat /tmp/v >/proc/sys/${name}`), name).toMatchObject({
          exitCode: 2,
        });
      }
    });

    it('do not include the agent’s files', async () => {
      expect(
        await stdout('ls /run/agent 2>/dev/null; ls /run/agent/ctl 2>/dev/null; cat /run/agent/agent | head -1'),
      ).toBe('exec </dev/null >/dev/null 2>&1\n');
    });
  });

  describe('the system calls of a sandbox', () => {
    it('cannot mount, create namespaces or change the root', async () => {
      all(
        await probe([
          ['mount', 'none', '/tmp', 'tmpfs', 0, 0],
          ['umount2', '/tmp', 2],
          ['unshare', 0x10000000],
          ['unshare', 0x00020000],
          ['setns', 0, 0],
          ['chroot', '/tmp'],
          ['pivot_root', '/tmp', '/tmp'],
          ['clone', 0x10000011, 0, 0, 0, 0],
          ['clone', 0x00020011, 0, 0, 0, 0],
        ]),
        EPERM,
      );
      all(
        await probe([
          ['fsopen', 'tmpfs', 0],
          ['open_tree', -100, '/', 1],
          ['move_mount', -1, '', -1, '', 4],
          ['clone3', 0, 0],
          ['mount_setattr', -1, '', 0, 0, 0],
        ]),
        ENOSYS,
      );
    });

    it('cannot access descriptors of other processes, keyrings or the machine', async () => {
      all(
        await probe([
          ['pidfd_getfd', 0, 0, 0],
          ['kcmp', 1, 1, 0, 0, 0],
          ['keyctl', 0, -3, 0],
          ['add_key', 'user', 'k', 'v', 1, -3],
          ['request_key', 'user', 'k', 0, 0],
          ['bpf', 0, 0, 0],
          ['perf_event_open', 0, 0, 0, 0, 0],
          ['userfaultfd', 0],
          ['syslog', 10, 0, 0],
          ['reboot', 0, 0, 0, 0],
          ['init_module', 0, 0, ''],
          ['kexec_load', 0, 0, 0, 0],
          ['swapon', '/tmp/x', 0],
          ['sethostname', 'x', 1],
          ['open_by_handle_at', 0, 0, 0],
          ['clock_settime', 0, 0],
          ['personality', 0x0440000],
        ]),
        EPERM,
      );
    });

    it('cannot use io_uring or secret memory', async () => {
      all(
        await probe([
          ['io_uring_setup', 1, 0],
          ['io_uring_enter', 0, 0, 0, 0, 0, 0],
          ['io_uring_register', 0, 0, 0, 0],
          ['memfd_secret', 0],
        ]),
        ENOSYS,
      );
    });

    it('can create sockets of unix, inet, inet6 and netlink only', async () => {
      const families = Array.from({ length: 46 }, (_, family) => family).filter(
        (family) => ![1, 2, 10, 16].includes(family),
      );
      all(await probe(families.map((family) => ['socket', family, 2, 0] as const)), EAFNOSUPPORT);
      all(await probe([['socketpair', 40, 1, 0, 0]]), EAFNOSUPPORT);
      expect([
        ...(
          await probe([
            ['socket', 1, 1, 0],
            ['socket', 2, 1, 0],
          ])
        ).values(),
      ]).toEqual(['allowed', 'allowed']);
    });

    it('cannot create device nodes, but FIFOs', async () => {
      all(
        await probe([
          ['mknodat', -100, '/tmp/dev', 0o20666, 0x103],
          ['mknodat', -100, '/tmp/blk', 0o60666, 0xfe00],
        ]),
        EPERM,
      );
      expect(await run(box, 'mkfifo /tmp/fifo && test -p /tmp/fifo && mknod /tmp/p2 p')).toMatchObject({ exitCode: 0 });
    });

    it('cannot inject input into a terminal', async () => {
      const script = 'my $x = "x"; for (0x5412, 0x541C) { $! = 0; ioctl(STDIN, $_, $x); print 0 + $!, "\\n" }';
      await run(box, 'cat >/tmp/tiocsti.pl', { stdin: script });
      expect(await stdout('script -qc "perl /tmp/tiocsti.pl" /dev/null </dev/null')).toBe('1\r\n1\r\n');
    });

    /** Returns a complete program of a few instructions: ELF64 header, one segment, code. */
    function elf(code: readonly number[]): string {
      const image = Buffer.alloc(120 + code.length);
      Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]).copy(image);
      image.writeUInt16LE(2, 16);
      image.writeUInt16LE(62, 18);
      image.writeUInt32LE(1, 20);
      image.writeBigUInt64LE(0x400078n, 24);
      image.writeBigUInt64LE(64n, 32);
      image.writeUInt16LE(64, 52);
      image.writeUInt16LE(56, 54);
      image.writeUInt16LE(1, 56);
      image.writeUInt32LE(1, 64);
      image.writeUInt32LE(5, 68);
      image.writeBigUInt64LE(0x400000n, 80);
      image.writeBigUInt64LE(0x400000n, 88);
      image.writeBigUInt64LE(BigInt(image.length), 96);
      image.writeBigUInt64LE(BigInt(image.length), 104);
      image.writeBigUInt64LE(0x1000n, 112);
      Buffer.from(code).copy(image, 120);
      return image.toString('base64');
    }
    const exit0 = [0xb8, 60, 0, 0, 0, 0x31, 0xff, 0x0f, 0x05];

    it.runIf(process.arch === 'x64').each([
      ['a 64-bit exit', exit0, 0],
      ['an i386 call (int 0x80)', [0xb8, 20, 0, 0, 0, 0xcd, 0x80, ...exit0], 128 + 31],
      ['an x32 call', [0xb8, 39, 0, 0, 0x40, 0x0f, 0x05, ...exit0], 128 + 31],
    ])('end a program with %s with exit code %3$i', async (_, code, exitCode) => {
      expect(await run(box, 'base64 -d >/tmp/tiny; chmod +x /tmp/tiny; /tmp/tiny', { stdin: elf(code) })).toMatchObject(
        {
          exitCode,
        },
      );
    });
  });

  describe('the network of a sandbox', () => {
    it('is a loopback of its own, from which not even abstract sockets of the host are reachable', async () => {
      const name = `paddock-posture-${process.pid}`;
      const servers = [createServer().listen(0, '127.0.0.1'), createServer().listen(`\0${name}`)];
      onTestFinished(() => servers.forEach((server) => void server.close()));
      await Promise.all(servers.map((server) => once(server, 'listening')));
      expect(readFileSync('/proc/net/unix', 'utf8')).toContain(`@${name}`);
      const { port } = servers[0]!.address() as { port: number };
      const script = [
        'use Socket;',
        `for my $to (["127.0.0.1", ${port}], ["169.254.169.254", 80], ["10.0.0.1", 80], ["8.8.8.8", 53]) {`,
        '  socket(my $s, AF_INET, SOCK_STREAM, 0) or die;',
        '  print connect($s, pack_sockaddr_in($to->[1], inet_aton($to->[0]))) ? "open" : "shut", "\\n";',
        '}',
        // Node 20 pads the names of abstract sockets to the length of sun_path, later releases do not.
        `sub at { socket(my $u, AF_UNIX, SOCK_STREAM, 0) or die; connect($u, pack_sockaddr_un("\\0${name}" . "\\0" x $_[0])) }`,
        `print at(0) || at(${107 - name.length}) ? "open" : "shut", "\\n";`,
      ].join('\n');
      expect(await stdout('perl', { stdin: script })).toBe('shut\n'.repeat(5));
      const control = script.replace(/, \["169.*53\]/, '');
      expect(await onHost('perl', control)).toBe('open\nopen\n');
      expect(await stdout('cat /proc/net/unix')).not.toContain('@');
    });

    it('has no name resolution and no interface but its loopback', async () => {
      expect(await stdout('tail -n +3 /proc/net/dev | cut -d: -f1')).toMatch(/^\s*lo\n$/);
      expect(await stdout('cat /proc/net/route | wc -l')).toBe('1\n');
    });
  });

  describe('two sandboxes', () => {
    it('share no memory, files, processes or per-uid limits', async () => {
      const other = ready ? await bwrap.launchReady() : await bwrap.launch();
      await run(box, 'echo mine >/dev/shm/f; echo mine >/tmp/f; ipcmk -M 100 >/dev/null');
      const seen = await run(
        other,
        'cat /dev/shm/f /tmp/f 2>/dev/null; ipcs -m | grep -c 0x; hostname; ls /proc | grep -c "^[0-9]"',
      );
      expect(seen.stdout).toMatch(/^0\nsandbox\n\d\n$/);
      await run(box, `kill -9 ${'-1'} 2>/dev/null; :`);
      expect(await run(other, 'echo alive')).toMatchObject({ stdout: 'alive\n' });
    });
  });
});

it('do not make bwrap create anything on the host through a link in the workspace', async () => {
  const planted = spawned.spec();
  const first = await spawned.runtime.launch(planted);
  await run(first, 'for n in etc tmp usr run dev proc link; do ln -s /oldroot/tmp/paddock-canary $n; done');
  await first.stop();
  const second = await spawned.runtime.launch(planted);
  expect(await run(second, 'ls | wc -l')).toMatchObject({ stdout: '7\n' });
  await second.stop();
  expect(() => readdirSync('/tmp/paddock-canary')).toThrow(/ENOENT/);
  writeFileSync(`${planted.workspace}/plain`, '');
});
