import { expect, it } from 'vitest';
import { cgroupPaths } from '../../../../lib/runtime/bwrap/shown-cgroups.ts';

const V2 = { source: '/cg/unified/paddock/a', name: '' };
const V1 = { source: '/cg/cpu,cpuacct/paddock/a', name: 'cpu,cpuacct' };

it.each([
  ['before', [V2, V1]],
  ['after', [V1, V2]],
])('nothing is shown below the read-only cgroup of v2, %s a hierarchy of v1', (_, cgroups) => {
  expect(cgroupPaths(cgroups, '/commands').map(({ path }) => path)).toEqual([
    '/sys/fs/cgroup',
    '/sys/fs/cgroup/commands',
    '/sys/fs/commands',
  ]);
});

it('each controller of a hierarchy of v1 has a link', () => {
  expect(cgroupPaths([V1], '/commands')).toEqual([
    { source: V1.source, path: '/sys/fs/cgroup/cpu,cpuacct' },
    { link: 'cpu,cpuacct', path: '/sys/fs/cgroup/cpu' },
    { link: 'cpu,cpuacct', path: '/sys/fs/cgroup/cpuacct' },
  ]);
});
