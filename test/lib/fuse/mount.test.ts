import { describe, expect, it } from 'vitest';
import { parseMountInfo } from '../../../lib/fuse/connection/mount.ts';
import { probeFuse } from '../../../lib/fuse/connection/probe.ts';

describe('parseMountInfo', () => {
  const text = `22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
40 22 0:51 / /srv/with\\040space rw shared:7 master:2 - fuse workspace rw,user_id=0
41 22 0:52 / /srv/twice rw - tmpfs tmpfs rw
42 41 0:53 / /srv/twice rw - fuse workspace rw
`;

  it('finds a path with escaped characters, beyond any number of optional fields', () => {
    expect(parseMountInfo(text, '/srv/with space')).toEqual({ device: '0:51', type: 'fuse', source: 'workspace' });
  });

  it('tells the topmost of several mounts', () => {
    expect(parseMountInfo(text, '/srv/twice')?.device).toBe('0:53');
  });

  it('does not take a parent for the path', () => {
    expect(parseMountInfo(text, '/srv')).toBeUndefined();
  });
});

describe('probeFuse', () => {
  it('resolves where mounting works', async () => {
    await probeFuse();
  });
});
