import { describe, expect, it } from 'vitest';
import type { Hierarchy } from '../../../../lib/runtime/cgroup/mounts.ts';
import { placeIn } from '../../../../lib/runtime/docker/container-cgroup.ts';

const V1: Hierarchy[] = ['memory', 'pids', 'freezer', 'cpu'].map((controller) => ({
  version: 1,
  mountPoint: `/sys/fs/cgroup/${controller}`,
  controllers: [controller],
}));
const ID = 'f00d';
const IN_V1 = ['4:memory', '3:pids', '2:freezer', '1:cpu'].map((line) => `${line}:/docker/${ID}\n`).join('');

describe('the directory of a container’s cgroups', () => {
  it('is below the container’s own cgroup on v2', () => {
    const v2: Hierarchy = { version: 2, mountPoint: '/sys/fs/cgroup', controllers: ['cpu', 'memory', 'pids'] };
    const own = `/sys/fs/cgroup/system.slice/docker-${ID}.scope`;
    expect(placeIn([v2], `0::/system.slice/docker-${ID}.scope\n`, 'groups')).toEqual({
      roots: { groups: own, limits: { pids: { version: 2, dir: own } } },
      pids: own,
      memory: { version: 2, dir: own },
    });
  });

  it('is in the container’s freezer cgroup on v1', () => {
    expect(placeIn(V1, IN_V1, 'groups')).toEqual({
      roots: {
        groups: `/sys/fs/cgroup/freezer/docker/${ID}`,
        limits: { pids: { version: 1, dir: `/sys/fs/cgroup/pids/docker/${ID}` } },
      },
      pids: `/sys/fs/cgroup/pids/docker/${ID}`,
      memory: { version: 1, dir: `/sys/fs/cgroup/memory/docker/${ID}` },
    });
  });

  it('is the server’s own directory if v2 has no controllers', () => {
    const unified: Hierarchy = { version: 2, mountPoint: '/sys/fs/cgroup/unified', controllers: [] };
    const place = placeIn([...V1, unified], `${IN_V1}0::/\n`, 'groups');
    expect(place?.roots.groups).toBe('/sys/fs/cgroup/unified/groups');
    expect(place?.pids).toBe(`/sys/fs/cgroup/pids/docker/${ID}`);
  });

  it('does not exist without the pids controller', () => {
    expect(placeIn(V1.slice(0, 1), IN_V1, 'groups')).toBeUndefined();
    expect(placeIn([], '', 'groups')).toBeUndefined();
  });
});
