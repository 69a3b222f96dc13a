import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import {
  bwrapArguments,
  encodeArguments,
  optionsLacking,
  type SystemView,
} from '../../../../lib/runtime/bwrap/arguments.ts';
import { launchCommand, prelude, preludeShell } from '../../../../lib/runtime/bwrap/prelude.ts';

const view: SystemView = {
  entries: [{ path: '/usr' }, { path: '/bin', link: 'usr/bin' }],
  etc: '/i/etc',
  maskedFiles: ['/proc/keys'],
  maskedDirs: ['/proc/acpi'],
  readOnlyPaths: ['/opt/node'],
  tmpBytes: 2 ** 20,
};

const SANDBOX = { workspace: '/fs/w', home: '/fs/h', agentDir: '/i/a' };

describe('the arguments of bwrap', () => {
  it('have exactly this order', () => {
    expect(bwrapArguments(view, SANDBOX).join(' ')).toMatchInlineSnapshot(
      `"--unshare-user --unshare-pid --unshare-net --unshare-ipc --unshare-uts --unshare-cgroup --disable-userns --uid 1000 --gid 1000 --hostname sandbox --die-with-parent --new-session --cap-drop ALL --seccomp 4 --clearenv --setenv PATH /usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin --setenv HOME /home/sandbox --setenv USER sandbox --setenv LOGNAME sandbox --setenv SHELL /bin/sh --setenv LANG C.UTF-8 --setenv TERM dumb --ro-bind /usr /usr --symlink usr/bin /bin --ro-bind /i/etc /etc --proc /proc --ro-bind /proc/sys /proc/sys --ro-bind /dev/null /proc/keys --perms 0555 --size 4096 --tmpfs /proc/acpi --dev /dev --perms 1777 --size 67108864 --tmpfs /dev/shm --perms 1777 --size 1048576 --tmpfs /tmp --symlink /tmp /var/tmp --ro-bind /opt/node /opt/node --ro-bind /i/a /run/agent --bind /fs/h /home/sandbox --bind /fs/w /workspace --chdir /workspace --remount-ro /dev --remount-ro /"`,
    );
  });

  it('show further paths of the host, and the workspace at its second path, before /workspace', () => {
    const readOnly = [{ path: '/root/.pyenv', source: '/i/paths/0' }];
    const args = bwrapArguments(view, { ...SANDBOX, readOnly, workspacePath: '/home/ann/p' }).join(' ');
    expect(args).toMatch(
      / --ro-bind \/i\/paths\/0 \/root\/\.pyenv --ro-bind \/i\/a \/run\/agent --bind \/fs\/w \/home\/ann\/p --bind \/fs\/h \/home\/sandbox --bind \/fs\/w \/workspace /,
    );
  });

  it('change nothing below the workspace and HOME, and make the root read-only last', () => {
    const args = bwrapArguments(view, SANDBOX);
    const below = args.filter((arg) => arg.startsWith('/workspace') || arg.startsWith('/home/'));
    expect(below).toEqual(['/home/sandbox', '/home/sandbox', '/workspace', '/workspace']);
    expect(args.slice(-2)).toEqual(['--remount-ro', '/']);
  });

  it('omit options that an older bwrap does not support', () => {
    const lacking = optionsLacking([0, 6, 1]);
    expect([lacking, optionsLacking([0, 7, 0]), optionsLacking([0, 8, 0]), optionsLacking([1, 0, 0])]).toEqual([
      ['--size', '--disable-userns'],
      ['--disable-userns'],
      [],
      [],
    ]);
    const args = bwrapArguments({ ...view, lacking }, SANDBOX).join(' ');
    expect(args).not.toMatch(/--size|--disable-userns/);
    expect(args).toContain('--perms 1777 --tmpfs /tmp ');
  });

  it('have the environment of an image, without what changes how the agent’s shell works', () => {
    const names = ['SHELLOPTS', 'BASHOPTS', 'POSIXLY_CORRECT', 'BASH_ENV', 'ENV', 'IFS', 'n', 's', 'USER'];
    const env = { ...Object.fromEntries(names.map((name) => [name, 'image'])), LANG: 'C', NODE_ENV: 'test' };
    const rootfs = { path: '/images/i', name: 'i', entries: [], env, resetsSignals: true };
    const args = bwrapArguments(view, { ...SANDBOX, rootfs });
    expect(args).not.toContain('image');
    const set = args.flatMap((arg, index) => (arg === '--setenv' ? [args.slice(index + 1, index + 3).join('=')] : []));
    expect(set).toEqual(expect.arrayContaining(['USER=sandbox', 'LANG=C', 'NODE_ENV=test']));
  });

  it('contain no NUL', () => {
    expect(encodeArguments(['--bind', 'a b'])).toBe('--bind\0a b\0');
    expect(() => encodeArguments(['a\0b'])).toThrow(RangeError);
  });
});

describe('the shell script that starts bwrap', () => {
  const entries = ['/cg/a/cgroup.procs', '/cg/b/cgroup.procs'];
  const plan = {
    bwrapPath: '/opt/my bwrap',
    uid: 200_001,
    argumentsFile: '/run/x/args',
    seccompFile: '/i/seccomp',
  };

  const none = { closeFds: [], niceness: undefined };

  it('begins with exactly these lines: it enters every cgroup before anything else', () => {
    expect(prelude(entries, none)).toMatchInlineSnapshot(`
      "set -e; umask 022; unset OLDPWD SHLVL
      echo 0 >'/cg/a/cgroup.procs'
      echo 0 >'/cg/b/cgroup.procs'
      { echo 200 >/proc/self/oom_score_adj; } 2>/dev/null || :
      ulimit -c 0 2>/dev/null || :
      ulimit -Sn 1024 2>/dev/null || :
      ulimit -Hn 16384 2>/dev/null || :
      ulimit -l 64 2>/dev/null || :
      ulimit -s 8192 2>/dev/null || :
      ulimit -u 16384 2>/dev/null || ulimit -p 16384 2>/dev/null || :
      "
    `);
  });

  it('ends with exactly these lines: it drops root before bwrap', () => {
    expect(launchCommand(plan)).toMatchInlineSnapshot(`
      "{
      exec </dev/null 3<'/run/x/args' 4<'/i/seccomp'
      exec /usr/bin/setpriv --reuid 200001 --regid 200001 --clear-groups --no-new-privs --pdeathsig KILL --inh-caps=-all --bounding-set=-all -- '/opt/my bwrap' --args 3 -- /bin/sh /run/agent/agent
      }
      "
    `);
  });

  it('closes the descriptors that the server inherited, in a shell that supports it', () => {
    expect(prelude(entries, { ...none, closeFds: [5, 251] })).toContain('exec 5>&- 251>&-');
    expect([preludeShell([]), preludeShell([9]), preludeShell([10])]).toEqual(['/bin/sh', '/bin/sh', '/bin/bash']);
  });

  it('resets the raised priority of the server, or ends', () => {
    expect(prelude(entries, { ...none, niceness: 5 }).split('\n')).toContain('/usr/bin/renice -n 5 -p $$');
  });

  it('keeps the uid of a server that is not root', () => {
    expect(launchCommand({ ...plan, uid: undefined })).not.toContain('setpriv');
  });

  it.each(['/bin/sh', '/bin/bash'])('runs nothing in %s before the script is complete', (shell) => {
    const whole = launchCommand({
      ...plan,
      bwrapPath: '/bin/true',
      uid: undefined,
      argumentsFile: '/dev/null',
      seccompFile: '/dev/null',
    });
    const run = (input: string) => spawnSync(shell, [], { input: `${prelude([], none)}${input}`, env: {} }).status;
    expect(run(whole)).toBe(0);
    expect(run(whole.replace('/bin/true', '/bin/false'))).toBe(1);
    for (let cut = 1; cut < whole.length - 2; cut++)
      expect(run(whole.slice(0, cut).replace('true', 'false'))).not.toBe(1);
  });
});
