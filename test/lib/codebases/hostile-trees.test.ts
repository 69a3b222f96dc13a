import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { mount, unmount } from '../../../lib/linux/mount.ts';
import { chunks, codeOf, Scratch } from './scratch.ts';

let scratch: Scratch;
let id: string;
let outside: string;
beforeEach(async () => {
  scratch = new Scratch();
  await scratch.open();
  id = await scratch.codebase();
  outside = join(scratch.path, 'outside');
  mkdirSync(outside);
  writeFileSync(join(outside, 'secret'), 'secret');
});
afterEach(() => scratch.remove());

const inside = (path: string) => join(scratch.files(id), path);
const untouched = () => {
  expect(readdirSync(outside)).toEqual(['secret']);
  expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('secret');
};

/** Swaps a directory for a symlink and back until told to stop; clears away what uploads make in the gap. */
const SWAPPER = `
  const { parentPort, receiveMessageOnPort, workerData } = require('node:worker_threads');
  const fs = require('node:fs');
  const { directory, outside } = workerData;
  const attempt = (step) => { try { step(); return true; } catch { return false; } };
  let swaps = 0;
  while (!receiveMessageOnPort(parentPort)) {
    if (!attempt(() => fs.renameSync(directory, directory + '-aside'))) continue;
    if (attempt(() => fs.symlinkSync(outside, directory))) swaps++;
    while (!attempt(() => fs.renameSync(directory + '-aside', directory))) {
      attempt(() => fs.rmSync(directory, { recursive: true, force: true }));
    }
  }
  parentPort.postMessage(swaps);
`;

describe('a symlink in a codebase', () => {
  it('is not followed as a component of a path', async () => {
    symlinkSync(outside, inside('link'));
    mkdirSync(inside('d'));
    symlinkSync('../d', inside('d/relative'));
    for (const path of ['link/secret', 'link/new', 'd/relative/new', 'link/a/b']) {
      const calls = [
        scratch.upload(id, path),
        scratch.codebases.open(id, path),
        scratch.codebases.removeFile(id, path),
      ];
      expect(await Promise.all(calls.map(codeOf))).toEqual(Array(3).fill('FAILED_PRECONDITION'));
    }
    untouched();
  });

  it('is not followed as the file itself', async () => {
    symlinkSync(join(outside, 'secret'), inside('link'));
    symlinkSync('/nonexistent', inside('dangling'));
    expect(await codeOf(scratch.codebases.open(id, 'link'))).toBe('FAILED_PRECONDITION');
    expect(await codeOf(scratch.codebases.open(id, 'dangling'))).toBe('FAILED_PRECONDITION');
  });

  it('is itself replaced by an upload', async () => {
    symlinkSync(join(outside, 'secret'), inside('link'));
    symlinkSync(outside, inside('dirlink'));
    await scratch.upload(id, 'link', 'mine');
    await scratch.upload(id, 'dirlink', 'mine');
    expect(await scratch.text(id, 'link')).toBe('mine');
    expect(await scratch.text(id, 'dirlink')).toBe('mine');
    untouched();
    await scratch.verifyTotals();
    expect(await scratch.counted(id)).toEqual([2, 8]);
  });

  it('that repeatedly replaces a directory leads no operation out of the codebase', { timeout: 120_000 }, async () => {
    mkdirSync(inside('d'));
    writeFileSync(inside('d/secret'), 'inside');
    const swapper = new Worker(SWAPPER, { eval: true, workerData: { directory: inside('d'), outside } });
    const swaps = new Promise<number>((resolve) => swapper.once('message', resolve));
    const seen = new Set<string>();
    try {
      for (let i = 0; i < 300; i++) {
        const results = await Promise.allSettled([
          scratch.text(id, 'd/secret'),
          scratch.upload(id, `d/new${i % 5}`, 'x'),
          scratch.codebases.removeFile(id, `d/new${i % 5}`),
          scratch.codebases.listFiles(id, { path: 'd', recursive: true, page_size: 100, page_token: '' }),
        ]);
        const read = results[0];
        if (read.status === 'fulfilled') seen.add(read.value);
        const listed = results[3];
        if (listed.status === 'fulfilled') for (const { path } of listed.value.files) seen.add(path);
      }
    } finally {
      swapper.postMessage('stop');
      expect(await swaps).toBeGreaterThan(100);
      await swapper.terminate();
    }
    expect([...seen].filter((text) => !/^(inside|d\/secret|d\/new\d)$/.test(text))).toEqual([]);
    untouched();
  });
});

describe('an entry that is not a regular file', () => {
  it('is refused without blocking: a FIFO, a socket, a device', async () => {
    execFileSync('mkfifo', [inside('fifo')]);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(inside('socket'), resolve));
    symlinkSync('/dev/zero', inside('device'));
    const names = ['fifo', 'socket', 'device'];
    if (process.getuid?.() === 0) {
      execFileSync('mknod', [inside('node'), 'c', '1', '5']);
      names.push('node');
    }
    try {
      for (const name of names) {
        expect([name, await codeOf(scratch.codebases.open(id, name))]).toEqual([name, 'FAILED_PRECONDITION']);
        expect(await codeOf(scratch.upload(id, `${name}/x`))).toBe('FAILED_PRECONDITION');
      }
      await scratch.verifyTotals();
      expect(await scratch.counted(id)).toEqual([1, 9]);
      for (const name of names) await scratch.upload(id, name, 'now a file');
      await scratch.verifyTotals();
      expect(await scratch.counted(id)).toEqual([names.length, 10 * names.length]);
    } finally {
      server.close();
    }
  });
});

describe('a tree deeper than PATH_MAX', () => {
  it('is listed, counted and deleted with few files open', { timeout: 120_000 }, async () => {
    writeFileSync(inside('bottom'), 'x');
    for (let depth = 0; depth < 1000; depth++) {
      mkdirSync(join(scratch.path, 'outer'));
      renameSync(scratch.files(id), join(scratch.path, 'outer/dddd'));
      renameSync(join(scratch.path, 'outer'), scratch.files(id));
    }
    let most = 0;
    const census = setInterval(() => {
      most = Math.max(most, readdirSync('/proc/self/fd').length);
    }, 5);
    try {
      await scratch.verifyTotals();
      expect(await scratch.counted(id)).toEqual([1, 1]);
      const request = { path: '', recursive: true, page_size: 600 };
      let [listed, page_token] = [0, ''];
      do {
        const page = await scratch.codebases.listFiles(id, { ...request, page_token });
        listed += page.files.length;
        page_token = page.next_page_token;
      } while (page_token !== '');
      expect(listed).toBe(1001);
    } finally {
      clearInterval(census);
    }
    expect(most).toBeLessThan(100);
    await scratch.codebases.delete(id);
    expect(existsSync(scratch.files(id))).toBe(false);
  });
});

describe('a full disk', () => {
  const mounted = process.getuid?.() === 0;
  it.runIf(mounted)('is RESOURCE_EXHAUSTED and leaves the existing files', async () => {
    const tmp = join(scratch.files(id), '../tmp');
    await mount({ type: 'tmpfs', options: 'size=1m', source: 'tmpfs', mountPoint: tmp });
    try {
      const upload = scratch.codebases.upload(id, 'a', chunks(...Array(20).fill(Buffer.alloc(100_000))));
      expect(await codeOf(upload)).toBe('RESOURCE_EXHAUSTED');
      expect(scratch.incoming(id)).toEqual([]);
    } finally {
      await unmount(tmp, 'force');
    }
    rmSync(tmp, { recursive: true });
    expect(readdirSync(scratch.files(id))).toEqual([]);
  });
});
