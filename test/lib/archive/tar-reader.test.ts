import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { memberHead, tarEnd } from '../../../lib/archive/tar.ts';
import { fromText } from '../../../lib/byte-string.ts';
import { timeOf } from '../../../lib/linux/time.ts';
import { readMembers } from './read-members.ts';

let directory: string;
const LONG = `${'deep-directory-name/'.repeat(12)}${'f'.repeat(120)}`;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'paddock-untar-'));
  mkdirSync(join(directory, LONG, '..'), { recursive: true });
  writeFileSync(join(directory, LONG), 'long');
  writeFileSync(join(directory, 'a'), Buffer.alloc(70_000, 'a'));
  writeFileSync(join(directory, 'empty'), '');
  chmodSync(join(directory, 'a'), 0o750);
  utimesSync(join(directory, 'a'), 1_600_000_000.25, 1_600_000_000.25);
  symlinkSync('a', join(directory, 'symlink'));
  symlinkSync(`${'t/'.repeat(150)}x`, join(directory, 'long-target'));
  linkSync(join(directory, 'a'), join(directory, 'z-linked'));
});

afterAll(() => rmSync(directory, { recursive: true }));

const made = (...options: string[]) =>
  execFileSync('tar', ['-cf', '-', '--sort=name', ...options, '.'], { cwd: directory });

/** The bytes in pieces that do not match the blocks. */
function* portions(bytes: Uint8Array, size = 700) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function membersOf(bytes: Uint8Array, size?: number): Promise<string[]> {
  const members = await readMembers(portions(bytes, size));
  return members.map(({ path, type, mode, content, size: length, target }) => {
    expect(content.length).toBe(length);
    return `${type} ${path}${target && ` -> ${target}`} ${mode.toString(8)} ${length}`;
  });
}

/** Returns one header; its checksum is correct unless `sum` is given. */
function header(fields: { name?: string; type?: string; size?: string; sum?: number; link?: string } = {}): Buffer {
  const block = Buffer.alloc(512);
  block.write(fields.name ?? 'f', 0, 'latin1');
  block.write('0000644\0', 100);
  block.write(fields.size ?? '00000000000\0', 124, 'latin1');
  block.write('00000000000\0', 136);
  block.write('        ', 148);
  block.write(fields.type ?? '0', 156);
  block.write(fields.link ?? '', 157);
  block.write('ustar\x0000', 257);
  const sum = fields.sum ?? block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}

const END = Buffer.alloc(1024);

describe('reading an archive', () => {
  it.each([['pax'], ['gnu'], ['ustar']])('accepts archives of tar in the format %s', async (format) => {
    const excluded = format === 'ustar' ? ['--exclude=long-target', '--exclude=deep-directory-name'] : [];
    const found = await membersOf(made(`--format=${format}`, ...excluded));
    expect(found).toContain('file ./a 750 70000');
    expect(found).toContain('file ./empty 644 0');
    expect(found).toContain('symlink ./symlink -> a 777 0');
    expect(found).toContain('link ./z-linked -> ./a 750 0');
    expect(found[0]).toMatch(/^directory \.\/ /);
    if (format === 'ustar') return;
    expect(found).toContain(`file ./${LONG} 644 4`);
    expect(found).toContain(`symlink ./long-target -> ${'t/'.repeat(150)}x 777 0`);
  });

  it('reads fractional times', async () => {
    const members = await readMembers(portions(made('--format=pax')));
    const times = new Map(members.map(({ path, mtime }) => [path as string, mtime]));
    expect(times.get('./a')).toEqual({ sec: 1_600_000_000, nsec: 250_000_000 });
    expect(times.size).toBeGreaterThan(5);
  });

  const exported = (sec: number, nsec: number) =>
    Buffer.concat([
      memberHead({ path: fromText('f'), type: 'file', mode: 0o644, mtime: { sec, nsec }, size: 0 }),
      tarEnd(),
    ]);

  it.each([
    [-1, 0],
    [-2, 500_000_000],
    [-1, 999_999_999],
    [2 ** 33, 0],
  ])('an exported time of %d s and %d ns is the same for this reader and for tar', async (sec, nsec) => {
    expect((await readMembers([exported(sec, nsec)]))[0]!.mtime).toEqual({ sec, nsec });
    execFileSync('tar', ['-xf', '-'], { cwd: directory, input: exported(sec, nsec), stdio: 'pipe' });
    const { mtimeNs } = statSync(join(directory, 'f'), { bigint: true });
    expect(timeOf(mtimeNs)).toEqual({ sec, nsec });
  });

  it('an exported time that only some file systems can hold is the same for tar', async () => {
    expect((await readMembers([exported(2 ** 36, 0)]))[0]!.mtime).toEqual({ sec: 2 ** 36, nsec: 0 });
    const options = { input: exported(2 ** 36, 0), encoding: 'utf8' } as const;
    expect(execFileSync('tar', ['-tv', '--full-time', '--utc'], options)).toContain(' 4147-08-20 07:32:16 f');
  });

  it('exports no time that it would not accept', async () => {
    for (const sec of [2 ** 45, -(2 ** 45)]) {
      expect((await readMembers([exported(sec, 0)]))[0]!.mtime.sec).toBe(Math.sign(sec) * 999_999_999_999);
    }
  });

  it('returns names byte for byte', async () => {
    expect(await membersOf(Buffer.concat([header({ name: 'a\xff\xfe' }), END]))).toEqual(['file a\xff\xfe 644 0']);
  });

  const refused: [string, Buffer, RegExp][] = [
    ['an empty input', Buffer.alloc(0), /^the archive cannot be imported: it is truncated$/],
    ['an archive without its end', header(), /^the archive cannot be imported: it is truncated$/],
    [
      'contents that are truncated',
      Buffer.concat([header({ size: '00000002000\0' }), Buffer.alloc(512)]),
      /^the archive cannot be imported: it is truncated$/,
    ],
    ['garbage', Buffer.alloc(2048, 'garbage'), /: a header has an invalid checksum$/],
    ['a modified header', Buffer.concat([header({ sum: 1 }), END]), /: a header has an invalid checksum$/],
    [
      'a size that is not a number',
      Buffer.concat([header({ size: '0000000zzzz\0' }), END]),
      /: a header has an invalid size$/,
    ],
    [
      'a size above the maximum of a file',
      Buffer.concat([header({ size: `\x80${'\xff'.repeat(11)}` }), END]),
      /: a header has an invalid size$/,
    ],
    [
      'a character device',
      Buffer.concat([header({ type: '3' }), END]),
      /: "f" is a character device, which is not supported$/,
    ],
    ['a block device', Buffer.concat([header({ type: '4' }), END]), /block device/],
    ['a FIFO', Buffer.concat([header({ type: '6' }), END]), /FIFO/],
    ['a sparse file', Buffer.concat([header({ type: 'S' }), END]), /sparse/],
    [
      'an unknown kind',
      Buffer.concat([header({ type: 'Z' }), END]),
      /: "f" is of an unknown type, which is not supported$/,
    ],
    ['a huge record', Buffer.concat([header({ type: 'x', size: '77777777777\0' }), END]), /a record has more than/],
    [
      'a record of another length',
      Buffer.concat([header({ type: 'x', size: '00000000012\0' }), Buffer.alloc(512, '99 path=x\n'), END]),
      /: a record is malformed$/,
    ],
  ];
  it.each(refused)('refuses %s', async (_, bytes, why) => {
    for (const size of [1, 512, 4096]) {
      const reading = membersOf(bytes, size);
      await expect(reading).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', message: expect.stringMatching(why) });
    }
  });
});
