import { execFileSync } from 'node:child_process';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { tarEnd } from '../../../lib/archive/tar.ts';
import { WritableTree } from '../../../lib/host-tree/writable-tree.ts';
import { archiveOf, imported, leftovers, names, packed, put, scratch, useImports } from './importing.ts';

useImports();

describe('importing an archive into a codebase', () => {
  const refused: [string, Parameters<typeof archiveOf>[0], RegExp][] = [
    ['a member above the root', [['../x', 'x']], /"\.\.\/x" contains "\.\."/],
    ['an absolute path', [['/etc/x', 'x']], /"\/etc\/x" is an absolute path/],
    ['a name that is too long', [[`${'n'.repeat(256)}`, 'x']], /more than 255 bytes in one name/],
    [
      'a member below a symlink',
      [
        ['l', { to: '/tmp' }],
        ['l/x', 'x'],
      ],
      /"l\/x" is below "l", which is not a directory/,
    ],
    [
      'a directory member at a symlink’s member',
      [
        ['l', { to: '/tmp' }],
        ['l/d/x', 'x'],
      ],
      /not a directory/,
    ],
    [
      'a file at a directory',
      [
        ['d/x', 'x'],
        ['d', 'x'],
      ],
      /"d" is a directory and another type/,
    ],
    ['a hard link to an absent file', [['l', { to: 'none/x', hard: true }]], /not an earlier file/],
    [
      'a hard link to a symlink',
      [
        ['s', { to: '/etc/passwd' }],
        ['l', { to: 's', hard: true }],
      ],
      /not an earlier file/,
    ],
    ['a hard link above the root', [['l', { to: '../../x', hard: true }]], /contains "\.\."/],
    ['a hard link to itself', [['l', { to: 'l', hard: true }]], /not an earlier file/],
  ];
  it.each(refused)('refuses %s, and changes nothing', async (_, members, message) => {
    await put('kept');
    const importing = imported(archiveOf([['first', 'x'], ...members]), 'replace');
    await expect(importing).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringMatching(message),
    });
    expect(names()).toEqual(['kept']);
    await expect.poll(leftovers).toEqual([]);
  });

  it.each([
    ['a truncated archive', () => packed().subarray(0, 5000), /truncated/],
    ['garbage', () => Buffer.alloc(5000, 'garbage'), /invalid checksum/],
    ['nothing', () => Buffer.alloc(0), /truncated/],
    ['truncated gzip', () => gzipSync(packed()).subarray(0, 300), /its gzip data is truncated/],
    [
      'damaged gzip',
      () => Buffer.concat([gzipSync(packed()).subarray(0, 20), Buffer.alloc(500, 7)]),
      /gzip data is damaged/,
    ],
    ['truncated zstd', () => execFileSync('zstd', ['-c'], { input: packed() }).subarray(0, 60), /zstd data is/],
    [
      'zstd with a huge window',
      () => execFileSync('zstd', ['-c', '--ultra', '-22', '--long=27'], { input: Buffer.alloc(64 << 20, 'a') }),
      /a window of \d+ bytes, the most is 8388608/,
    ],
    ['xz', () => execFileSync('xz', ['-c'], { input: packed() }), /compressed with xz/],
    ['a zip file', () => Buffer.from('PK\x03\x04'.padEnd(100)), /a zip file/],
  ])('refuses %s with one sentence', async (_, bytes, message) => {
    const importing = imported(bytes());
    await expect(importing).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringMatching(message),
    });
    expect(names()).toEqual([]);
  });

  it('refuses more hard links than the file system permits', async () => {
    vi.spyOn(WritableTree.prototype, 'link').mockImplementation(() => {
      throw Object.assign(new Error('link'), { code: 'EMLINK' });
    });
    onTestFinished(() => void vi.restoreAllMocks());
    const importing = imported(
      archiveOf([
        ['f', 'x'],
        ['h', { to: 'f', hard: true }],
      ]),
    );
    await expect(importing).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringMatching(/"h" is a hard/),
    });
    expect(names()).toEqual([]);
  });

  it('is bounded by the quota of the codebase, also for data that grows when it is decompressed', async () => {
    scratch.limits = { maxBytes: 100_000, maxFiles: 5 };
    await scratch.open();
    await put('kept');
    const bomb = gzipSync(archiveOf([['bomb', 'x'.repeat(5_000_000)]]));
    await expect(imported(bomb)).rejects.toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
    const many = archiveOf([1, 2, 3, 4, 5].map((n) => [`f${n}`, 'x']));
    await expect(imported(many)).rejects.toMatchObject({
      code: 'RESOURCE_EXHAUSTED',
      message: expect.stringContaining('storage.max_codebase_files'),
    });
    await imported(many, 'replace');
    expect(names()).toHaveLength(5);
  });

  it('refuses one directory named over and over, of which each member has a record', async () => {
    await put('kept');
    const again = archiveOf([['d/', 'directory']]).subarray(0, 512);
    const often = gzipSync(Buffer.concat([...Array(10_002).fill(again), tarEnd()]));
    await expect(imported(often)).rejects.toMatchObject({
      code: 'RESOURCE_EXHAUSTED',
      message: expect.stringContaining('names a directory again more than 10000 times'),
    });
    expect(names()).toEqual(['kept']);
    await imported(Buffer.concat([...Array(100).fill(again), tarEnd()]));
  });
});
