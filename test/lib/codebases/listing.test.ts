import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { codeOf, Scratch } from './scratch.ts';

let scratch: Scratch;
let id: string;
beforeEach(async () => {
  scratch = new Scratch();
  await scratch.open();
  id = await scratch.codebase();
});
afterEach(() => scratch.remove());

async function list(path: string, recursive: boolean, page_size = 100): Promise<string[]> {
  const paths: string[] = [];
  let page_token = '';
  do {
    const page = await scratch.codebases.listFiles(id, { path, recursive, page_size, page_token });
    paths.push(...page.files.map((file) => file.path));
    page_token = page.next_page_token;
  } while (page_token !== '');
  return paths;
}

function plant(...paths: string[]): void {
  for (const path of paths) {
    mkdirSync(join(scratch.files(id), path, '..'), { recursive: true });
    writeFileSync(join(scratch.files(id), path), path);
  }
}

describe('a listing', () => {
  it('has the entries of one directory, or of all directories below, in path order', async () => {
    plant('b', 'a/x', 'a/y/z', 'a.txt', 'a-b/q');
    expect(await list('', false)).toEqual(['a', 'a-b', 'a.txt', 'b']);
    expect(await list('/', true)).toEqual(['a', 'a-b', 'a-b/q', 'a.txt', 'a/x', 'a/y', 'a/y/z', 'b']);
    expect(await list('/a/', false)).toEqual(['a/x', 'a/y']);
    expect(await list('a', true)).toEqual(['a/x', 'a/y', 'a/y/z']);
  });

  it('returns size, time, type and mode of each entry, for a symlink its own', async () => {
    plant('d/file');
    symlinkSync('/etc', join(scratch.files(id), 'link'));
    utimesSync(join(scratch.files(id), 'd/file'), 0, 1_600_000_000.5);
    const { files } = await scratch.codebases.listFiles(id, {
      path: '',
      recursive: true,
      page_size: 100,
      page_token: '',
    });
    expect(files).toMatchObject([
      { path: 'd', size: 0, is_dir: true },
      { path: 'd/file', size: 6, is_dir: false, modified_at: 1_600_000_000, mode: 0o644 },
      { path: 'link', size: 4, is_dir: false },
    ]);
  });

  it('does not follow a symlink, neither in the path nor below it', async () => {
    symlinkSync('/etc', join(scratch.files(id), 'link'));
    expect(await list('', true)).toEqual(['link']);
    expect(await codeOf(list('link', false))).toBe('FAILED_PRECONDITION');
    expect(await codeOf(list('link/ssl', true))).toBe('FAILED_PRECONDITION');
  });

  it('of a file is FAILED_PRECONDITION, of an absent path NOT_FOUND', async () => {
    plant('a');
    expect(await codeOf(list('a', false))).toBe('FAILED_PRECONDITION');
    expect(await codeOf(list('b', false))).toBe('NOT_FOUND');
    expect(await codeOf(list('b/c', true))).toBe('NOT_FOUND');
    expect(await codeOf(list('../..', true))).toBe('INVALID_ARGUMENT');
  });

  it('shows names that are not UTF-8 with U+FFFD, and pages past them', async () => {
    for (const byte of [0x80, 0xfe, 0xff]) {
      writeFileSync(Buffer.concat([Buffer.from(`${scratch.files(id)}/`), Buffer.from([0x61, byte])]), '');
    }
    plant('b');
    expect(await list('', true, 1)).toEqual(['a\ufffd', 'a\ufffd', 'a\ufffd', 'b']);
  });

  it('omits entries that are neither directory, file nor symlink', async () => {
    execFileSync('mkfifo', [join(scratch.files(id), 'fifo')]);
    plant('a');
    expect(await list('', true)).toEqual(['a']);
    await scratch.verifyTotals();
    expect(await scratch.counted(id)).toEqual([1, 1]);
  });

  it('refuses the page token of another listing', async () => {
    plant('a', 'b', 'd/c');
    const page = await scratch.codebases.listFiles(id, { path: '', recursive: false, page_size: 1, page_token: '' });
    const other = { path: 'd', recursive: false, page_size: 1, page_token: page.next_page_token };
    expect(await codeOf(scratch.codebases.listFiles(id, other))).toBe('INVALID_ARGUMENT');
    const madeUp = { path: '', recursive: false, page_size: 1, page_token: 'x' };
    expect(await codeOf(scratch.codebases.listFiles(id, madeUp))).toBe('INVALID_ARGUMENT');
  });

  it('continues at the right place if the last entry of a page was removed', async () => {
    plant('a/b/c', 'a/b/d', 'a/e', 'f');
    const request = { path: '', recursive: true, page_size: 3, page_token: '' };
    const { files, next_page_token } = await scratch.codebases.listFiles(id, request);
    expect(files.map(({ path }) => path)).toEqual(['a', 'a/b', 'a/b/c']);
    await scratch.codebases.removeFile(id, 'a/b/c');
    await scratch.codebases.removeFile(id, 'a/b/d');
    const rest = await scratch.codebases.listFiles(id, { ...request, page_token: next_page_token });
    expect(rest.files.map(({ path }) => path)).toEqual(['a/e', 'f']);
  });

  it('is the same whatever the page size, and sorted by bytes', async () => {
    const name = fc.constantFrom('a', 'b', 'a.b', 'a-', 'é', '😀', 'A');
    const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join('/'));
    await fc.assert(
      fc.asyncProperty(fc.array(path, { maxLength: 12 }), fc.integer({ min: 1, max: 5 }), async (paths, size) => {
        const other = await scratch.codebase();
        id = other;
        for (const path of paths) await codeOf(scratch.upload(other, path));
        const there = readdirSync(scratch.files(other), { recursive: true }).map(String);
        there.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
        expect(await list('', true, size)).toEqual(there);
        await scratch.codebases.delete(other);
      }),
      { numRuns: 60 },
    );
  });

  it('succeeds while directories are created and removed', async () => {
    plant('keep/a', 'keep/b', 'z');
    let stop = false;
    const churn = (async () => {
      while (!stop) {
        await Promise.all(['k/1/2/3/4', 'k/1/2/x', 'keep/c/d/e'].map((path) => scratch.upload(id, path)));
        for (const path of ['k/1/2/3/4', 'k/1/2/x', 'keep/c/d/e']) await scratch.codebases.removeFile(id, path);
      }
    })();
    try {
      for (let i = 0; i < 200; i++) {
        const paths = await list('', true);
        expect(paths).toEqual(expect.arrayContaining(['keep', 'keep/a', 'keep/b', 'z']));
      }
    } finally {
      stop = true;
      await churn;
    }
  });
});
