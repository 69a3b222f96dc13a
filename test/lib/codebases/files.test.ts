import { createHash } from 'node:crypto';
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { chunks, codeOf, Scratch } from './scratch.ts';

let scratch: Scratch;
let id: string;
beforeEach(async () => {
  scratch = new Scratch();
  await scratch.open();
  id = await scratch.codebase();
});
afterEach(() => scratch.remove());

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

describe('an upload', () => {
  it('stores the content, creates its directories and returns size and SHA-256', async () => {
    const answer = await scratch.codebases.upload(id, '/a/b/c.txt', chunks('one', '', 'two'));
    expect(answer).toEqual({ size: 6, checksum: sha256('onetwo') });
    expect(await scratch.text(id, 'a/b/c.txt')).toBe('onetwo');
    expect(scratch.incoming(id)).toEqual([]);
  });

  it('stores an empty file', async () => {
    expect(await scratch.codebases.upload(id, 'empty', chunks())).toEqual({ size: 0, checksum: sha256('') });
    expect(await scratch.text(id, 'empty')).toBe('');
  });

  it('gives the file its mode whatever the umask, and never a set-id bit', async () => {
    const mode = (path: string) => statSync(join(scratch.files(id), path)).mode & 0o7777;
    const umask = process.umask(0o077);
    try {
      await scratch.upload(id, 'd/plain');
      await scratch.codebases.upload(id, 'run', chunks('x'), { mode: 0o755 });
    } finally {
      process.umask(umask);
    }
    expect([mode('d'), mode('d/plain'), mode('run')]).toEqual([0o755, 0o644, 0o755]);
    for (const bad of [0o4755, -1, 1.5]) {
      expect(await codeOf(scratch.codebases.upload(id, 'x', chunks(''), { mode: bad }))).toBe('INVALID_ARGUMENT');
    }
  });

  it('replaces a file while a reader keeps reading the old version', async () => {
    await scratch.upload(id, 'a', 'old');
    const file = await scratch.codebases.open(id, 'a');
    await scratch.upload(id, 'a', 'new content');
    expect((await file.read().toArray()).join('')).toBe('old');
    await file.close();
    expect(await scratch.text(id, 'a')).toBe('new content');
  });

  it('whose content stream fails leaves the old file and no temporary file', async () => {
    await scratch.upload(id, 'a', 'old');
    const failing = scratch.codebases.upload(id, 'a', chunks('new', new Error('client gone')));
    await expect(failing).rejects.toThrow('client gone');
    await codeOf(scratch.codebases.upload(id, 'deep/er/b', chunks(new Error('client gone'))));
    expect(await scratch.text(id, 'a')).toBe('old');
    expect(readdirSync(scratch.files(id))).toEqual(['a']);
    expect(scratch.incoming(id)).toEqual([]);
  });

  it('reads the next chunk only after the previous one was written', async () => {
    let asked = 0;
    async function* watched() {
      for (; asked < 50; asked++) {
        const [name] = scratch.incoming(id);
        const written = name ? statSync(join(scratch.files(id), '../tmp', name)).size : 0;
        expect(written).toBe(asked * 100_000);
        yield Buffer.alloc(100_000);
      }
    }
    await scratch.codebases.upload(id, 'a', watched());
    expect(asked).toBe(50);
  });

  it('is refused at the path of a directory', async () => {
    await scratch.upload(id, 'a/b');
    await expect(scratch.upload(id, 'a')).rejects.toMatchObject({
      code: 'FAILED_PRECONDITION',
      message: expect.stringContaining('"a" is a directory'),
    });
    expect(scratch.incoming(id)).toEqual([]);
  });

  it('is refused at a path below a file', async () => {
    await scratch.upload(id, 'a/b');
    await expect(scratch.upload(id, 'a/b/c/d')).rejects.toMatchObject({
      code: 'FAILED_PRECONDITION',
      message: expect.stringContaining('"a/b" is not a directory'),
    });
  });

  it('changes nothing if the watcher fails, and removes the directories that it created', async () => {
    scratch.onChanging = () => Promise.reject(new Error('file system gone'));
    await expect(scratch.upload(id, 'a/b')).rejects.toThrow('file system gone');
    scratch.onChanging = () => {
      // Taken away under it, so that the last step fails.
      const [name] = scratch.incoming(id);
      if (name) linkSync(join(scratch.files(id), '../tmp', name), join(scratch.path, 'kept'));
      if (name) mkdirSync(join(scratch.files(id), 'x/y/z'), { recursive: true });
    };
    expect(await codeOf(scratch.upload(id, 'x/y/z'))).toBe('EISDIR');
    scratch.onChanging = () => {};
    expect(existsSync(join(scratch.files(id), 'a'))).toBe(false);
    expect(scratch.incoming(id)).toEqual([]);
  });

  it('notifies the watcher of the file and of each new directory', async () => {
    await scratch.upload(id, 'a/b/c');
    await scratch.upload(id, 'a/b/d');
    expect(scratch.told).toEqual(['changing a,a/b,a/b/c', 'changed a,a/b,a/b/c', 'changing a/b/d', 'changed a/b/d']);
  });

  it('notifies the watcher before and after the change is visible', async () => {
    const seen: boolean[] = [];
    scratch.onChanging = () => void seen.push(existsSync(join(scratch.files(id), 'a')));
    await scratch.upload(id, 'a/b');
    expect(seen).toEqual([false]);
  });
});

describe('a path', () => {
  const invalid = [
    '',
    '/',
    '//',
    '//a',
    'a//b',
    'a/',
    '.',
    '..',
    '../x',
    'a/../../x',
    'a/..',
    './a',
    'a/./b',
    'a\0b',
    '\ud800',
    'n'.repeat(256),
    'é'.repeat(128),
    `${'d/'.repeat(2048)}f`,
  ];
  it.each(invalid)('that could leave the codebase is INVALID_ARGUMENT: %#', async (path) => {
    const calls = [scratch.upload(id, path), scratch.codebases.open(id, path), scratch.codebases.removeFile(id, path)];
    expect(await Promise.all(calls.map(codeOf))).toEqual(Array(3).fill('INVALID_ARGUMENT'));
    expect(readdirSync(scratch.files(id))).toEqual([]);
  });

  const odd = [
    '/etc/passwd',
    '...',
    '..a',
    '.git/config',
    'a\\b',
    '..\\x',
    'new\nline',
    '\u001b[2J',
    '\u202egpj.exe',
    'é',
    'e\u0301',
    'n'.repeat(255),
    '-rf',
    '~',
    '%2e%2e',
    'constructor',
    '__proto__',
    `${'d/'.repeat(300)}f`,
    Array(16).fill('n'.repeat(255)).join('/'),
  ];
  it.each(odd)('with unusual characters is a valid name: %#', async (path) => {
    await scratch.upload(id, path, 'content');
    expect(await scratch.text(id, path)).toBe('content');
    expect(await scratch.counted(id)).toEqual([1, 7]);
    await scratch.codebases.removeFile(id, path);
    expect(readdirSync(scratch.files(id))).toEqual([]);
  });
});

describe('an error', () => {
  it('contains the path, truncated to fit into a header', async () => {
    const path = Array(16).fill('é'.repeat(127)).join('/');
    for (const call of [() => scratch.codebases.open(id, path), () => scratch.codebases.removeFile(id, path)]) {
      const error = await call().catch((thrown: Error) => thrown);
      expect(String(error)).toContain('éé');
      expect(String(error).length).toBeLessThan(400);
    }
  });
});

describe('a download', () => {
  it('returns ranges, independently for each read', async () => {
    await scratch.upload(id, 'a', '0123456789');
    const file = await scratch.codebases.open(id, 'a');
    const read = async (start: number, end: number) => (await file.read({ start, end }).toArray()).join('');
    expect(await Promise.all([read(0, 3), read(3, 10), read(5, 5), read(8, 99)])).toEqual(['012', '3456789', '', '89']);
    await file.close();
  });

  it('continues a read in progress after close', async () => {
    const content = 'x'.repeat(2_000_000);
    await scratch.upload(id, 'a', content);
    const file = await scratch.codebases.open(id, 'a');
    const stream = file.read();
    await file.close();
    expect(Buffer.concat(await stream.toArray()).length).toBe(content.length);
    expect(() => file.read()).toThrow();
  });

  it('closes the file when a reader stops early', async () => {
    await scratch.upload(id, 'a', 'x'.repeat(2_000_000));
    const openFiles = () =>
      readdirSync('/proc/self/fd')
        .map((fd) => linkOf(fd))
        .filter((to) => to.includes(scratch.path));
    for (let i = 0; i < 20; i++) {
      const file = await scratch.codebases.open(id, 'a');
      const stream = file.read();
      if (i % 2) await stream[Symbol.asyncIterator]().next();
      const closed = new Promise((resolve) => stream.once('close', resolve));
      stream.destroy();
      await Promise.all([closed, file.close()]);
    }
    expect(openFiles()).toEqual([]);
  });

  it('returns size, time and checksum, also of a file that was not uploaded', async () => {
    const path = join(scratch.files(id), 'a');
    writeFileSync(path, 'made outside');
    utimesSync(path, 1000, 1_700_000_000.9);
    const file = await scratch.codebases.open(id, 'a');
    expect(file).toMatchObject({ size: 12, checksum: sha256('made outside'), modified_at: 1_700_000_000 });
    await file.close();
    writeFileSync(path, 'now changed!');
    const again = await scratch.codebases.open(id, 'a');
    expect(again.checksum).toBe(sha256('now changed!'));
    await again.close();
  });

  it('of an absent file is NOT_FOUND, of a directory FAILED_PRECONDITION', async () => {
    await scratch.upload(id, 'a/b');
    expect(await codeOf(scratch.codebases.open(id, 'x'))).toBe('NOT_FOUND');
    expect(await codeOf(scratch.codebases.open(id, 'x/y'))).toBe('NOT_FOUND');
    expect(await codeOf(scratch.codebases.open(id, 'a'))).toBe('FAILED_PRECONDITION');
    expect(await codeOf(scratch.codebases.open(id, 'a/b/c'))).toBe('FAILED_PRECONDITION');
  });
});

function linkOf(fd: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return '';
  }
}

describe('removing a file', () => {
  it('removes the parent directories that become empty, and no others', async () => {
    await scratch.upload(id, 'a/b/c/one');
    await scratch.upload(id, 'a/two');
    scratch.told.length = 0;
    await scratch.codebases.removeFile(id, 'a/b/c/one');
    expect(readdirSync(scratch.files(id), { recursive: true }).toSorted()).toEqual(['a', 'a/two']);
    expect(scratch.told).toEqual(['changing a/b/c/one,a/b/c,a/b', 'changed a/b/c/one,a/b/c,a/b']);
    await scratch.codebases.removeFile(id, 'a/two');
    expect(readdirSync(scratch.files(id))).toEqual([]);
  });

  it('of an absent file is NOT_FOUND, of a directory FAILED_PRECONDITION', async () => {
    await scratch.upload(id, 'a/b');
    expect(await codeOf(scratch.codebases.removeFile(id, 'x'))).toBe('NOT_FOUND');
    expect(await codeOf(scratch.codebases.removeFile(id, 'x/y'))).toBe('NOT_FOUND');
    expect(await codeOf(scratch.codebases.removeFile(id, 'a'))).toBe('FAILED_PRECONDITION');
    expect(await scratch.text(id, 'a/b')).toBe('a/b');
    expect(scratch.told.length).toBe(2);
  });

  it('removes a symlink and keeps its target', async () => {
    await scratch.upload(id, 'target');
    symlinkSync('target', join(scratch.files(id), 'link'));
    await scratch.codebases.removeFile(id, 'link');
    expect(readdirSync(scratch.files(id))).toEqual(['target']);
  });
});

describe('file_count and total_size', () => {
  it('follow every change', async () => {
    expect(await scratch.counted(id)).toEqual([0, 0]);
    await scratch.upload(id, 'a/b', '12345');
    await scratch.upload(id, 'c', '123');
    expect(await scratch.counted(id)).toEqual([2, 8]);
    await scratch.upload(id, 'c', '1');
    expect(await scratch.counted(id)).toEqual([2, 6]);
    await codeOf(scratch.upload(id, 'a', 'refused'));
    await codeOf(scratch.codebases.upload(id, 'd', chunks('x', new Error('gone'))));
    expect(await scratch.counted(id)).toEqual([2, 6]);
    await scratch.codebases.removeFile(id, 'a/b');
    expect(await scratch.counted(id)).toEqual([1, 1]);
  });

  it('are unchanged by a restart', async () => {
    await scratch.upload(id, 'a/b', '12345');
    symlinkSync('1234567', join(scratch.files(id), 'link'));
    await scratch.open();
    expect(await scratch.counted(id)).toEqual([2, 12]);
  });

  it('are correct after concurrent changes to the same paths, with counts in between', async () => {
    const changes = Array.from({ length: 300 }, (_, i) => {
      const path = `d${i % 3}/f${i % 5}`;
      if (i % 7 === 0) return codeOf(scratch.codebases.removeFile(id, path));
      if (i % 11 === 0) return scratch.counted(id);
      return scratch.upload(id, path, 'x'.repeat(i));
    });
    await Promise.all(changes);
    const kept = await scratch.counted(id);
    await scratch.open();
    expect(kept).toEqual(await scratch.counted(id));
    expect(scratch.incoming(id)).toEqual([]);
  });
});
