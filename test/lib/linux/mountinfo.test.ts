import { describe, expect, it } from 'vitest';
import { fromLatin1, ROOT_PATH } from '../../../lib/byte-string.ts';
import { findMount, mountAt, parseMounts, readMountsSync } from '../../../lib/linux/mountinfo.ts';

const TABLE = `22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
40 22 0:51 / /srv/with\\040space rw shared:7 master:2 - fuse workspace rw,user_id=0
41 22 0:52 / /srv/twice rw - tmpfs tmpfs rw
42 41 0:53 /sub\\134dir /srv/twice rw - fuse a\\043b rw
43 22 0:54 / /srv/- rw - tmpfs tmpfs rw,size=4k
44 22 0:55 / /srv/\xc3\xa4 rw - tmpfs tmpfs rw
`;

describe('parseMounts', () => {
  const mounts = parseMounts(fromLatin1(TABLE));

  it('returns every mount, whatever number of optional fields it has', () => {
    expect(mounts.map(({ device }) => device)).toEqual(['8:1', '0:51', '0:52', '0:53', '0:54', '0:55']);
    expect(mounts[1]).toEqual({
      device: '0:51',
      root: '/',
      mountPoint: '/srv/with space',
      type: 'fuse',
      source: 'workspace',
      superOptions: ['rw', 'user_id=0'],
    });
  });

  it('decodes octal escapes of root, mount point and source', () => {
    expect(mounts[3]).toMatchObject({ root: '/sub\\dir', source: 'a#b' });
  });

  it('takes a path that ends in "-" for no separator', () => {
    expect(mounts[4]).toMatchObject({ mountPoint: '/srv/-', type: 'tmpfs', superOptions: ['rw', 'size=4k'] });
  });

  it('returns nothing for an empty table', () => {
    expect(parseMounts(ROOT_PATH)).toEqual([]);
  });
});

describe('mountAt', () => {
  const mounts = parseMounts(fromLatin1(TABLE));

  it('returns the visible one of several mounts on a path', () => {
    expect(mountAt(mounts, '/srv/twice')?.device).toBe('0:53');
  });

  it('finds a path that is not ASCII', () => {
    expect(mountAt(mounts, '/srv/ä')?.device).toBe('0:55');
  });

  it('does not take a mount on a parent or below for one on the path', () => {
    expect(mountAt(mounts, '/srv')).toBeUndefined();
    expect(mountAt(mounts, '/srv/twice/below')).toBeUndefined();
  });
});

describe('the mount table of this process', () => {
  it('has /proc', async () => {
    expect(await findMount('/proc')).toMatchObject({ type: 'proc' });
    expect(mountAt(readMountsSync(), '/proc')).toEqual(await findMount('/proc'));
    expect(readMountsSync(process.pid)).toEqual(readMountsSync());
  });
});
