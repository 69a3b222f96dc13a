import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { Disk } from '../../../lib/disk/disk.ts';
import { hostDisk } from '../../../lib/disk/host-disk.ts';
import { SimulatedDisk } from './simulated-disk.ts';

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

const onHost = (): [Disk, string] => {
  folders.push(mkdtempSync(join(tmpdir(), 'paddock-disk-')));
  return [hostDisk, folders.at(-1)!];
};
const simulated = (): [Disk, string] => {
  const disk = new SimulatedDisk();
  disk.mkdir('/d');
  return [disk, '/d'];
};

describe.each([
  ['of this machine', onHost],
  ['simulated', simulated],
])('a disk, %s', (_, make) => {
  let disk: Disk;
  let dir: string;
  beforeEach(() => {
    [disk, dir] = make();
  });

  const written = (name: string, text: string): void => {
    const fd = disk.open(`${dir}/${name}`, 'create');
    disk.pwrite(fd, Buffer.from(text), 0);
    disk.datasync(fd);
    disk.close(fd);
  };
  const read = (fd: number, length = 100, offset = 0): string => {
    const bytes = Buffer.alloc(length);
    return bytes.toString('latin1', 0, disk.pread(fd, bytes, offset));
  };
  const contents = (name: string): string => {
    const fd = disk.open(`${dir}/${name}`, 'read');
    try {
      return read(fd);
    } finally {
      disk.close(fd);
    }
  };

  it('creates a file under a new name only', () => {
    written('a', 'one');
    expect(() => disk.open(`${dir}/a`, 'create')).toThrow(expect.objectContaining({ code: 'EEXIST' }));
    expect(contents('a')).toBe('one');
  });

  it('does not open what is not there', () => {
    expect(() => disk.open(`${dir}/a`, 'write')).toThrow(expect.objectContaining({ code: 'ENOENT' }));
    expect(() => disk.open(`${dir}/a/b`, 'read')).toThrow(expect.objectContaining({ code: 'ENOENT' }));
  });

  it('reads up to the end of the file', () => {
    written('a', '0123456789');
    const fd = disk.open(`${dir}/a`, 'read');
    expect([read(fd, 4, 2), read(fd, 4, 8), read(fd, 4, 10), read(fd, 4, 50)]).toEqual(['2345', '89', '', '']);
    disk.close(fd);
  });

  it('fills with zeros what is written behind the end or was cut off', () => {
    written('a', '0123');
    const fd = disk.open(`${dir}/a`, 'write');
    disk.truncate(fd, 2);
    disk.pwrite(fd, Buffer.from('x'), 5);
    expect(read(fd)).toBe('01\0\0\0x');
    expect(disk.size(fd)).toBe(6);
    disk.close(fd);
  });

  it('renames over another file, and goes on reading that one where it is open', () => {
    written('a', 'new');
    written('b', 'old');
    const fd = disk.open(`${dir}/b`, 'read');
    disk.rename(`${dir}/a`, `${dir}/b`);
    expect([contents('b'), read(fd), disk.readdir(dir)]).toEqual(['new', 'old', ['b']]);
    disk.close(fd);
  });

  it('renames nothing where both are names of one file', () => {
    written('a', 'one');
    disk.link(`${dir}/a`, `${dir}/b`);
    disk.rename(`${dir}/a`, `${dir}/b`);
    expect(disk.readdir(dir)).toEqual(['a', 'b']);
  });

  it('links a file under a new name only, and keeps it while it has one', () => {
    written('a', 'one');
    disk.link(`${dir}/a`, `${dir}/b`);
    expect(() => disk.link(`${dir}/a`, `${dir}/b`)).toThrow(expect.objectContaining({ code: 'EEXIST' }));
    disk.unlink(`${dir}/a`);
    expect([contents('b'), disk.readdir(dir)]).toEqual(['one', ['b']]);
  });

  it('makes folders', () => {
    disk.mkdir(`${dir}/f`);
    written('f/a', 'one');
    disk.syncFolder(`${dir}/f`);
    expect(() => disk.mkdir(`${dir}/f`)).toThrow(expect.objectContaining({ code: 'EEXIST' }));
    expect([disk.readdir(dir), contents('f/a')]).toEqual([['f'], 'one']);
  });
});
