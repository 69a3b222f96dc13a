import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { expectRefusal } from '../contract/scene.ts';
import { CANARY } from '../contract/server.ts';
import { pidsOf, statusOf } from './host.ts';
import { attacks } from './suite.ts';

const NO_CAPABILITIES = '0'.repeat(16);

attacks('posture', (target) => {
  it('1: a command has no capability, cannot get new privileges, and has a system call filter', async () => {
    const sandbox = await target.scene.sandboxOn({});
    const status = await target.scene.output(sandbox, 'cat /proc/self/status');
    for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb']) {
      expect(status).toContain(`${set}:\t${NO_CAPABILITIES}\n`);
    }
    expect(status).toMatch(/^NoNewPrivs:\t1$/m);
    expect(status).toMatch(/^Seccomp:\t2$/m);
  });

  it('1: on the host, no process of a sandbox is root, has capabilities, or has another sandbox’s uid', async () => {
    const { scene, state } = target;
    const sandbox = await scene.sandboxOn({});
    await scene.output(sandbox, 'sleep 8101 >/dev/null 2>&1 &');
    const one = pidsOf(state);
    expect(one.length).toBeGreaterThan(2);
    for (const status of one.map(statusOf)) {
      if (!status) continue;
      expect(status).toMatchObject({
        CapEff: NO_CAPABILITIES,
        NoNewPrivs: '1',
        Groups: expect.stringMatching(/^\s*$/),
      });
      // bwrap itself is the only process there without the filter; it reads nothing from inside.
      if (status.Name !== 'bwrap') expect(status.Seccomp).toBe('2');
      for (const ids of [status.Uid, status.Gid]) expect(new Set(ids?.split('\t')).size).toBe(1);
    }
    const users = new Set(one.map((pid) => statusOf(pid)?.Uid).filter(Boolean));
    expect(users.size).toBe(1);
    await scene.sandboxOn({});
    const both = new Set(pidsOf(state).map((pid) => statusOf(pid)?.Uid));
    expect(both.size).toBe(2);
  });

  it('1: a setuid program grants no privileges', async () => {
    const sandbox = await target.scene.sandboxOn({});
    const own = 'cp /usr/bin/id /tmp/id && chmod 4755 /tmp/id && /tmp/id -u';
    expect(await target.scene.output(sandbox, own)).toBe('1000\n');
    const effective = 'for f in $(find /usr/bin /usr/sbin -perm -4000); do $f --help 2>&1 </dev/null; done; id -u';
    expect(await target.scene.output(sandbox, effective)).toMatch(/(^|\n)1000\n$/);
    expect(await target.scene.output(sandbox, 'su -c id </dev/null 2>&1 || echo refused')).toContain('refused');
  });

  it('14: no process in a sandbox has a variable of the server', async () => {
    const sandbox = await target.scene.sandboxOn({});
    const all = "cat /proc/[0-9]*/environ /proc/self/environ | tr '\\0' '\\n' | cut -d= -f1 | sort -u";
    const allowed = ['HOME', 'LANG', 'LOGNAME', 'PATH', 'PWD', 'SHELL', 'SHLVL', 'TERM', 'USER'];
    const set = /^(CI|DEBIAN_FRONTEND|GIT_PAGER|GIT_TERMINAL_PROMPT|PAGER|PIP_[A-Z_]+|npm_config_[a-z_]+)$/;
    const seen = (await target.scene.output(sandbox, all)).trim().split('\n');
    expect(seen.filter((name) => !allowed.includes(name) && !set.test(name))).toEqual([]);
    const everywhere = `grep -l ${CANARY.slice(0, 9)}[${CANARY.slice(9)}] /proc/[0-9]*/environ /proc/[0-9]*/cmdline`;
    expect((await target.scene.run(sandbox, everywhere)).stdout).toBe('');
  });

  it('15: a command has three descriptors, and no descriptor of any process refers to a host file or device', async () => {
    const sandbox = await target.scene.sandboxOn({});
    const own = 'for n in 0 1 2 3 4 5 6 7 8 9 10 11 12 63 127 255; do test -e /proc/$$/fd/$n && echo $n; done; :';
    expect(await target.scene.output(sandbox, own)).toBe('0\n1\n2\n');
    // No pipe to another program: while that one starts, it has its libraries open.
    const links = await target.scene.output(sandbox, "find /proc/[0-9]*/fd -type l -printf '%l\\n' 2>/dev/null");
    // The workspace appears as the directory in which `find` started.
    const known =
      /^(\/workspace|\/dev\/null|\/run\/agent\/\S+( \(deleted\))?|\/proc\/\S*|pipe:\[\d+\]|anon_inode:\S+|socket:\[\d+\])$/;
    expect(
      links
        .trim()
        .split('\n')
        .filter((link) => !known.test(link)),
    ).toEqual([]);
  });

  it.each(['/proc/self/fd/3', '/proc/self/fd/7', '/proc/1/fd/0', '/proc/1/root/../..', '../../../root', '/proc/1/cwd'])(
    '15: the working directory %s does not lead out of the sandbox',
    async (workdir) => {
      const sandbox = await target.scene.sandboxOn({});
      const inside = await target.scene
        .run(sandbox, 'ls -A / && cat /etc/hostname', { workdir })
        .catch(() => undefined);
      if (inside) expect(inside.stdout).toMatch(/sandbox\n$/);
      else await expectRefusal(target.scene.run(sandbox, 'true', { workdir }), 'INVALID_ARGUMENT', 'workdir');
    },
  );

  it('16: no readable file contains a path, a user or the name of the host', async () => {
    const { scene, state } = target;
    const [sandbox, other] = [await scene.sandboxOn({}), await scene.sandboxOn({})];
    const files = ['mountinfo', 'mounts', 'mountstats', 'cmdline', 'maps', 'cgroup', 'environ', 'comm', 'stat'];
    const everything = await scene.output(
      sandbox,
      `cat ${files.map((file) => `/proc/[0-9]*/${file}`).join(' ')} /etc/* 2>/dev/null; uname -n; ls -la / /run /run/* /tmp; :`,
    );
    const name = createHash('sha256').update(join(state.directory, 'mounts')).digest('hex').slice(0, 16);
    // The mount table shows the sandbox's own id, which grants nothing, and no other id.
    const secrets = [state.directory, name, other.id, sandbox.codebase_id, 'server.mjs'];
    expect(secrets.filter((secret) => everything.includes(secret))).toEqual([]);
    expect(await scene.output(sandbox, 'uname -n; cat /etc/hostname /proc/sys/kernel/hostname')).not.toContain(
      hostname(),
    );
    expect(await scene.output(sandbox, 'cat /etc/shadow /etc/ssh/* /root/* /home/*/* 2>/dev/null; :')).toBe('');
  });

  it('17: /proc reveals nothing of the kernel and the machine’s processes, nor does /sys', async () => {
    const sandbox = await target.scene.sandboxOn({});
    const masked = ['cmdline', 'config.gz', 'iomem', 'ioports', 'kallsyms', 'kcore', 'keys', 'key-users', 'kmsg'];
    const more = ['kpagecount', 'kpageflags', 'latency_stats', 'modules', 'sched_debug', 'sysrq-trigger', 'timer_list'];
    const paths = [...masked, ...more].map((file) => `/proc/${file}`).join(' ');
    expect(await target.scene.output(sandbox, `for f in ${paths}; do head -c 64 $f 2>/dev/null; done; :`)).toBe('');
    expect(
      await target.scene.output(sandbox, 'ls -A /proc/acpi /proc/scsi /proc/bus 2>/dev/null | grep -v :; :'),
    ).toMatch(/^\s*$/);
    expect(await target.scene.output(sandbox, 'ls -A /sys /sys/devices /sys/devices/system | grep -v :')).toBe(
      'devices\nfs\n\nsystem\n\ncpu\n',
    );
  });

  it('18: a sandbox sees only its own processes, and its kill -1 reaches no other', async () => {
    const { scene, state, server } = target;
    const sandbox = await scene.sandboxOn({});
    const other = await scene.sandboxOn({});
    await scene.output(other, 'sleep 8102 >/dev/null 2>&1 &');
    const pids = (await scene.output(sandbox, 'cat /proc/[0-9]*/comm | sort -u')).trim().split('\n');
    expect(pids.filter((comm) => !['bwrap', 'cat', 'sh', 'sort', 'env'].includes(comm))).toEqual([]);
    expect((await scene.run(sandbox, `kill -9 ${server.pid} ${pidsOf(state).join(' ')}`)).exit_code).toBe(1);
    // It may end its own sandbox's agent, which affects that sandbox only.
    await scene.run(sandbox, 'kill -9 -1; exit 3').catch(() => undefined);
    expect(await scene.output(other, 'cat /proc/[0-9]*/cmdline | tr "\\0" " "')).toContain('sleep 8102');
    expect((await scene.rest.send('GET', '/health')).status).toBe(200);
    await scene.client.call('StartSandbox', { sandbox_id: sandbox.id });
    expect(await scene.output(sandbox, 'echo back')).toBe('back\n');
  });
});
