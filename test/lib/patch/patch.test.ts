import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Member, tar } from '../../../lib/archive/tar.ts';
import { fromLatin1, fromText } from '../../../lib/byte-string.ts';
import { diffLines } from '../../../lib/patch/line-diff.ts';
import { filePatch, type PatchSide } from '../../../lib/patch/patch.ts';
import { hunks } from '../../../lib/patch/unified.ts';
import { diffOf } from '../../../lib/text-tools/diff.ts';

function side(content: Buffer | string, mode = '100644'): PatchSide {
  const bytes = Buffer.from(content);
  return {
    mode,
    size: bytes.length,
    async *content() {
      yield bytes;
    },
  };
}

async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return Buffer.concat(parts);
}

/** Applies the patch to `before` with `git apply`. Returns the contents; undefined: the file was removed. */
async function applied(
  before: PatchSide | undefined,
  after: PatchSide | undefined,
  path = 'f',
): Promise<{ content: Buffer; mode: number } | undefined> {
  const dir = mkdtempSync(join(tmpdir(), 'paddock-patch-'));
  try {
    const at = join(dir, path);
    mkdirSync(join(at, '..'), { recursive: true });
    if (before) {
      writeFileSync(at, await collect(before.content()));
      chmodSync(at, Number.parseInt(before.mode.slice(-3), 8));
    }
    const name = Buffer.from(path).toString('latin1');
    const patch = await collect(filePatch(fromLatin1(name), before, after, means));
    if (patch.length > 0)
      execFileSync('git', ['apply', '-'], { cwd: dir, input: patch, stdio: ['pipe', 'pipe', 'pipe'] });
    return after && { content: readFileSync(at), mode: statSync(at).mode & 0o777 };
  } finally {
    rmSync(dir, { recursive: true });
  }
}

/** In the thread of the caller. */
const differ = async (before: Uint8Array, after: Uint8Array) => diffOf(before, after);
const means = { differ, objectFormat: 'sha1' } as const;

const lines = (...all: string[]) => all.map((line) => `${line}\n`).join('');

describe('a patch', () => {
  const big = Array.from({ length: 300 }, (_, index) => `line ${index}`);
  const bytes = Buffer.from(Array.from({ length: 5000 }, (_, index) => (index * 7919) % 256));
  it.each([
    ['a change in the middle', lines(...big), lines(...big.slice(0, 100), 'new', ...big.slice(103))],
    ['changes near and far', lines(...big), lines('x', ...big.slice(4, 9), 'y', ...big.slice(12, 250), 'z')],
    ['a removed newline at the end', 'a\nb\n', 'a\nb'],
    ['an added newline at the end', 'a\nb', 'a\nb\n'],
    ['from empty', '', 'a\n'],
    ['to empty', 'a\n', ''],
    ['nothing in common', lines(...big), lines(...big.map((line) => `${line}!`))],
    ['carriage returns and tabs', 'a\r\nb\tc\r\n', 'a\r\nb\td\r\n'],
    ['binary contents', bytes, Buffer.concat([bytes, bytes])],
    ['binary contents to empty', bytes, ''],
  ])('of %s is applied by git', async (_what, before, after) => {
    expect((await applied(side(before), side(after)))?.content).toEqual(Buffer.from(after));
    expect((await applied(undefined, side(after)))?.content).toEqual(Buffer.from(after));
    expect(await applied(side(before), undefined)).toBeUndefined();
  });

  it('contains a change of the mode, alone and with contents', async () => {
    expect(await applied(side('x\n'), side('x\n', '100755'))).toMatchObject({ mode: 0o755 });
    expect(await applied(side(bytes), side(bytes, '100755'))).toMatchObject({ mode: 0o755, content: bytes });
    expect(await applied(undefined, side('y\n', '100755'))).toMatchObject({ mode: 0o755 });
  });

  it('is empty for what git cannot express, and for paths that git refuses', async () => {
    const patchOf = (path: string, before?: PatchSide, after?: PatchSide) =>
      collect(filePatch(fromText(path), before, after, means)).then(String);
    const link = side('x', '120000');
    for (const content of ['', 'x\n', bytes]) expect(await patchOf('f', side(content), side(content))).toBe('');
    for (const path of ['.git/x', 'a/.GIT', 'git~1/x', '.git. ', '.git:s', 'a\\.git', '.g\u200cit'])
      expect([path, await patchOf(path, undefined, side('x'))]).toEqual([path, '']);
    for (const path of ['.gitmodules', 'a/.GITMODULES', 'gitmod~1', 'gi7eba~1']) {
      expect([path, await patchOf(path, undefined, link), await patchOf(path, link, side('x'))]).toEqual([
        path,
        '',
        '',
      ]);
      expect(await patchOf(path, undefined, side('x'))).not.toBe('');
    }
  });

  it.each(['with space', 'ünïcode', 'quo"te', 'back\\slash', 'tab\there', 'new\nline', 'd/e e p/f'])(
    'names the path %j as git does',
    async (path) => {
      expect((await applied(side('a\n'), side('b\n'), path))?.content.toString()).toBe('b\n');
      expect((await applied(undefined, side(bytes), path))?.content).toEqual(bytes);
    },
  );

  it('converts any text into any other', () => {
    const text = fc.array(fc.constantFrom('a\n', 'b\n', 'c\n', '\n'), { maxLength: 40 });
    fc.assert(
      fc.property(text, text, (a, b) => {
        const made: string[] = [];
        let at = 0;
        for (const block of diffLines(a, b)) {
          made.push(...a.slice(at, block.a0), ...b.slice(block.b0, block.b1));
          at = block.a1;
        }
        expect([...made, ...a.slice(at)]).toEqual(b);
        expect(hunks(a.join(''), a.join(''))).toBe('');
      }),
    );
  });
});

describe('tar', () => {
  it('is read by tar: long names, links, directories, contents', async () => {
    const long = `${'d'.repeat(90)}/${'f'.repeat(90)}`;
    const member = (path: string, content: string, more: Partial<Member> = {}): Member => ({
      path: fromText(path),
      type: 'file',
      mode: 0o640,
      mtime: 1_700_000_000,
      size: content.length,
      async *content() {
        yield Buffer.from(content);
      },
      ...more,
    });
    const archive = await collect(
      tar(
        (async function* () {
          yield member('dir', '', { type: 'directory', mode: 0o755 });
          yield member('dir/ä', 'text');
          yield member(long, 'x'.repeat(1000));
          yield member('dir/link', '', { type: 'symlink', target: fromLatin1(`../${long}`) });
          yield member('empty', '');
        })(),
      ),
    );
    const dir = mkdtempSync(join(tmpdir(), 'paddock-tar-'));
    try {
      execFileSync('tar', ['-xf', '-'], { cwd: dir, input: archive });
      expect(readFileSync(join(dir, 'dir/ä'), 'utf8')).toBe('text');
      expect(readFileSync(join(dir, 'dir/link'), 'utf8')).toBe('x'.repeat(1000));
      expect(statSync(join(dir, 'empty')).size).toBe(0);
      expect(statSync(join(dir, 'dir/ä'))).toMatchObject({ mtimeMs: 1_700_000_000_000 });
    } finally {
      rmSync(dir, { recursive: true });
    }
  });
});

it('a side that is left out is named without its contents, which git apply refuses', async () => {
  const large: PatchSide = { ...side(''), size: 2 ** 40, isLeftOut: true, content: () => expect.unreachable() };
  const dir = mkdtempSync(join(tmpdir(), 'paddock-patch-'));
  try {
    writeFileSync(join(dir, 'old'), 'x');
    for (const [path, before, after, names] of [
      ['new', undefined, large, '/dev/null and b/new'],
      ['old', side('x'), large, 'a/old and b/old'],
      ['old', large, undefined, 'a/old and /dev/null'],
    ] as const) {
      const patch = await collect(filePatch(fromText(path), before, after, means));
      expect(patch.toString()).toContain(`Binary files ${names} differ\n`);
      const apply = () => execFileSync('git', ['apply', '-'], { input: patch, cwd: dir, stdio: 'pipe' });
      expect(apply).toThrow(/cannot apply binary patch/);
    }
  } finally {
    rmSync(dir, { recursive: true });
  }
});
