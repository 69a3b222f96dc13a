import { expect, it } from 'vitest';
import type { Check } from '../../../clients/cli/src/doctor/check.ts';
import type { Host } from '../../../clients/cli/src/doctor/host.ts';
import { hostChecks } from '../../../clients/cli/src/doctor/host-checks.ts';

/** A machine on which everything is there. */
const GOOD: Host = {
  platform: 'linux',
  nodeVersion: '20.19.4',
  uid: 0,
  user: 'root',
  read: (path) =>
    ({
      '/sys/fs/cgroup/cgroup.controllers': 'cpuset cpu io memory pids',
      '/proc/self/cgroup': '0::/system.slice/paddock.service',
      '/sys/fs/cgroup/system.slice/paddock.service/cgroup.controllers': 'cpu memory pids',
    })[path],
  isWritable: () => true,
  deviceError: () => undefined,
  run: async (program) => ({ ok: true, text: program.endsWith('bwrap') ? 'bubblewrap 0.8.0' : '' }),
};

const found = async (changes: Partial<Host>): Promise<Check[]> =>
  (await hostChecks({ ...GOOD, ...changes })).filter(({ state }) => state !== 'ok');

it('finds nothing on a machine that has everything', async () => {
  expect(await found({})).toEqual([]);
});

it.each<[string, Partial<Host>, string[], RegExp]>([
  ['an old Node', { nodeVersion: '22.11.0' }, ['node'], /install Node/],
  ['another system', { platform: 'darwin' }, ['system'], /on Linux/],
  ['no /dev/fuse', { deviceError: () => 'ENOENT' }, ['/dev/fuse'], /modprobe fuse/],
  [
    'no bwrap',
    { run: async (program) => ({ ok: program !== '/usr/bin/bwrap', text: 'it is not installed' }) },
    ['bwrap', 'user namespaces'],
    /apt-get install bubblewrap/,
  ],
  [
    'no user namespaces',
    { read: (path) => (path.endsWith('max_user_namespaces') ? '0' : GOOD.read(path)) },
    ['user namespaces'],
    /sysctl -w user.max_user_namespaces/,
  ],
  [
    'a bwrap that may not make them',
    {
      run: async (program) => ({ ok: program !== 'setpriv', text: 'Permission denied' }),
      read: (path) => (path.endsWith('restrict_unprivileged_userns') ? '1' : GOOD.read(path)),
    },
    ['user namespaces'],
    /AppArmor profile/,
  ],
  ['cgroups that cannot be written', { isWritable: () => false }, ['cgroups'], /Delegate=yes/],
])('names what is missing: %s', async (_, changes, names, fix) => {
  const checks = await found(changes);
  expect(checks.map(({ name }) => name)).toEqual(names);
  expect(checks[0]!.fix).toMatch(fix);
});

it('cgroups of version 1 are those that can be written', async () => {
  const cgroup = { '/proc/self/cgroup': '5:memory:/\n4:cpu,cpuacct:/\n3:pids:/' } as Record<string, string>;
  const only = (writable: RegExp) => found({ read: (path) => cgroup[path], isWritable: (path) => writable.test(path) });
  expect(await only(/./)).toEqual([]);
  const [check] = await only(/memory|cpu/);
  expect([check!.state, check!.detail]).toEqual(['limited', expect.stringMatching(/^v1: cpu, memory; without pids/)]);
});

/** A machine on which an ordinary user can start a server. */
const ANN: Partial<Host> = {
  uid: 1000,
  user: 'ann',
  read: (path) => (/sub[ug]id$/.test(path) ? 'bob:100000:65536\nann:165536:65536' : GOOD.read(path)),
};

it('an ordinary user can start a server where user namespaces and /dev/fuse allow it', async () => {
  const checks = await found(ANN);
  expect(checks).toEqual([
    { name: 'user', required: false, state: 'limited', detail: expect.stringMatching(/runs in a user namespace/) },
  ]);
});

const failing =
  (fails: RegExp): Host['run'] =>
  async (program, args) => ({ ok: !fails.test([program, ...args].join(' ')), text: 'Permission denied' });

it.each<[string, Partial<Host>, string]>([
  ['/dev/fuse', { deviceError: () => 'EACCES' }, 'sudo chmod 0666 /dev/fuse'],
  ['newuidmap', { run: failing(/command -v newuidmap/) }, 'sudo apt-get install -y uidmap'],
  [
    'subordinate ids, of which others have the first',
    { read: (path) => (/sub[ug]id$/.test(path) ? 'bob:100000:65536' : GOOD.read(path)) },
    'sudo usermod --add-subuids 165536-231071 --add-subgids 165536-231071 ann',
  ],
  [
    'user namespaces, by AppArmor',
    {
      run: failing(/^unshare --user/),
      read: (path) => (path.endsWith('restrict_unprivileged_userns') ? '1' : ANN.read!(path)),
    },
    'sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0',
  ],
])('an ordinary user without %s gets the command that gives it', async (_, changes, command) => {
  const checks = await found({ ...ANN, ...changes });
  expect(checks.find(({ name }) => name === 'user')).toMatchObject({ state: 'missing', required: true, fix: command });
});
