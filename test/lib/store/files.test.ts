import { describe, expect, it } from 'vitest';
import { NO_KEY } from '../../../lib/trees/format/keys.ts';
import { SimulatedDisk } from '../disk/simulated-disk.ts';
import { keyOfBytes } from '../trees/memory.ts';
import { FOLDER, largeBytes, newStore } from './stores.ts';

function withFile(bytes: Buffer): SimulatedDisk {
  const disk = new SimulatedDisk();
  const fd = disk.open('/file', 'create');
  disk.pwrite(fd, bytes, 0);
  disk.close(fd);
  return disk;
}

function blobOf(disk: SimulatedDisk, bytes: Buffer): unknown {
  const name = Buffer.from(keyOfBytes(bytes), 'latin1').toString('hex', 1);
  return disk.file(`${FOLDER}/blobs/${name.slice(0, 2)}/${name}`);
}

describe('the contents of a file', () => {
  it.each([0, 5, 65_536, 65_537, 3_000_000])('of %i bytes are stored under their hash', (size) => {
    const bytes = Buffer.alloc(size, 5);
    const store = newStore(withFile(bytes));
    const stored = store.begin().putFile('/file');
    expect(stored).toEqual({ key: size === 0 ? NO_KEY : keyOfBytes(bytes), size });
    if (size > 0) expect(store.bytes(stored.key, size).equals(bytes)).toBe(true);
  });

  it('are the same file under another name, if they are large', () => {
    const disk = withFile(largeBytes(1));
    newStore(disk).begin().putFile('/file');
    expect(blobOf(disk, largeBytes(1)) === disk.file('/file')).toBe(true);
    expect(disk.file('/file').mode).toBe(0o400);
  });

  it('that are there already leave nothing else behind, however often they come', () => {
    const disk = withFile(largeBytes(1));
    const store = newStore(disk);
    for (let times = 0; times < 2; times++) {
      store.begin().putContents(largeBytes(1));
      for (let names = 0; names < 2; names++) store.begin().putFile('/file');
    }
    expect(blobOf(disk, largeBytes(1)) === disk.file('/file')).toBe(true);
    expect([...store.blobs()]).toHaveLength(1);
    expect(disk.readdir(`${FOLDER}/tmp`)).toEqual([]);
  });

  it.each(['EXDEV', 'EMLINK', 'EPERM', 'EIO'])('are copied where no second name is possible: %s', (code) => {
    const disk = withFile(largeBytes(1));
    const store = newStore(disk);
    const link = disk.link.bind(disk);
    disk.link = (from, to) => {
      disk.link = link;
      throw Object.assign(new Error(`${code}: link ${from} ${to}`), { code });
    };
    const { key, size } = store.begin().putFile('/file');
    expect(store.bytes(key, size).equals(largeBytes(1))).toBe(true);
    expect(blobOf(disk, largeBytes(1)) === disk.file('/file')).toBe(false);
    expect(disk.file('/file').mode).toBe(0o600);
  });

  it('leaves nothing behind where it cannot be read', () => {
    const disk = withFile(largeBytes(1));
    const store = newStore(disk);
    disk.pread = () => {
      throw Object.assign(new Error('EIO'), { code: 'EIO' });
    };
    expect(() => store.begin().putFile('/file')).toThrow('EIO');
    expect(disk.openFiles).toBe(0);
    expect(disk.readdir(`${FOLDER}/tmp`)).toEqual([]);
  });
});
