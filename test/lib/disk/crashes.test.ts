import { describe, expect, it } from 'vitest';
import { seeded } from '../trees/random.ts';
import { SimulatedDisk, Stopped } from './simulated-disk.ts';

/** What a file may have after a crash, over many. */
function outcomes(disk: SimulatedDisk, path: string): Set<string> {
  const found = new Set<string>();
  for (let seed = 0; seed < 500; seed++) {
    const left = disk.crashed(seeded(seed));
    try {
      const file = left.file(path);
      found.add(file.contents.toString('latin1', 0, file.size));
    } catch {
      found.add('absent');
    }
  }
  return found;
}

function written(text: string, synced: 'name' | 'contents' | 'both' | 'none'): SimulatedDisk {
  const disk = new SimulatedDisk();
  const fd = disk.open('/a', 'create');
  disk.pwrite(fd, Buffer.from(text), 0);
  if (synced !== 'none' && synced !== 'name') disk.datasync(fd);
  if (synced !== 'none' && synced !== 'contents') disk.syncFolder('/');
  return disk;
}

describe('the simulated disk', () => {
  it('keeps what was synced by its contents and its name', () => {
    expect(outcomes(written('abc', 'both'), '/a')).toEqual(new Set(['abc']));
  });

  it('may lose the name of synced contents, and the contents of a synced name', () => {
    expect(outcomes(written('abc', 'contents'), '/a')).toEqual(new Set(['abc', 'absent']));
    expect(outcomes(written('abc', 'name'), '/a')).toEqual(new Set(['', 'a', 'ab', 'abc', '\0\0\0']));
  });

  it('may keep a later write without an earlier one', () => {
    const disk = written('', 'both');
    const fd = disk.open('/a', 'write');
    disk.pwrite(fd, Buffer.from('x'), 0);
    disk.pwrite(fd, Buffer.from('y'), 1);
    expect(outcomes(disk, '/a')).toEqual(new Set(['', 'x', '\0', 'xy', '\0y', 'x\0', '\0\0']));
  });

  it('may lose what a failed sync should have written, whatever is synced later', () => {
    const disk = written('', 'both');
    const fd = disk.open('/a', 'write');
    disk.pwrite(fd, Buffer.from('x'), 0);
    disk.fault = { at: disk.calls, with: 'EIO' };
    expect(() => disk.datasync(fd)).toThrow('EIO');
    disk.pwrite(fd, Buffer.from('y'), 1);
    disk.datasync(fd);
    expect(outcomes(disk, '/a')).toEqual(new Set(['\0y', 'xy']));
  });

  it('renames as a whole: one of both names is there', () => {
    const disk = written('abc', 'both');
    disk.mkdir('/f');
    disk.syncFolder('/');
    disk.rename('/a', '/f/b');
    for (let seed = 0; seed < 100; seed++) {
      const left = disk.crashed(seeded(seed));
      expect(left.readdir('/').length + left.readdir('/f').length).toBe(2);
    }
    disk.syncFolder('/f');
    expect(outcomes(disk, '/f/b')).toEqual(new Set(['abc']));
  });

  it('does nothing more after it stopped', () => {
    const disk = written('abc', 'both');
    disk.fault = { at: disk.calls + 1, with: 'stop' };
    disk.mkdir('/f');
    expect(() => disk.unlink('/a')).toThrow(Stopped);
    expect(() => disk.readdir('/')).toThrow(Stopped);
    expect(disk.killed().readdir('/')).toEqual(['a', 'f']);
  });

  it('writes what there is room for, and has more after files are gone', () => {
    const disk = written('abc', 'both');
    disk.room = 2;
    const fd = disk.open('/b', 'create');
    expect(() => disk.pwrite(fd, Buffer.from('wxyz'), 0)).toThrow('ENOSPC');
    expect(disk.size(fd)).toBe(2);
    disk.unlink('/a');
    disk.pwrite(fd, Buffer.from('wxyz'), 0);
    expect(disk.size(fd)).toBe(4);
  });
});
