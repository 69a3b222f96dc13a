import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Daemon } from '../../../../lib/runtime/docker/daemon.ts';
import { ImageUserFiles, tarFile, withUser } from '../../../../lib/runtime/docker/user-files.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'paddock-etc-'));
});
afterEach(() => rm(directory, { recursive: true }));

const tar = (format: string) => execFileSync('tar', ['-C', directory, `--format=${format}`, '-c', 'passwd']);

describe('a file in an archive of the daemon', () => {
  it.each(['ustar', 'gnu', 'pax'])('is read (%s)', async (format) => {
    await writeFile(join(directory, 'passwd'), 'root:x:0:0::/:/bin/sh\nlast:x:1:1::/:/bin/sh');
    expect(tarFile(tar(format))).toBe('root:x:0:0::/:/bin/sh\nlast:x:1:1::/:/bin/sh\n');
  });

  it('is empty if it is a link', async () => {
    await symlink('/etc/shadow', join(directory, 'passwd'));
    expect(tarFile(tar('ustar'))).toBe('');
  });

  it('is empty if the archive is truncated or invalid', async () => {
    await writeFile(join(directory, 'passwd'), 'x'.repeat(2000));
    const archive = tar('ustar');
    for (const bytes of [
      archive.subarray(0, 0),
      archive.subarray(0, 700),
      Buffer.alloc(4096, 255),
      Buffer.alloc(4096),
    ]) {
      expect(tarFile(bytes)).toBe('');
    }
  });
});

describe('the files of an image', () => {
  interface Read {
    container: string;
    answer: (archive: Buffer) => void;
    fail: (message: string) => void;
  }

  /** A daemon whose answers the test gives. */
  function daemonWith(reads: Read[]): ImageUserFiles {
    const getArchive = (container: string) =>
      new Promise((resolve, reject) => {
        const fail = (message: string) => reject(Object.assign(new Error(message), { statusCode: 404 }));
        reads.push({ container, answer: (archive) => resolve(Readable.from([archive])), fail });
      });
    const docker = { getContainer: (container: string) => ({ getArchive: () => getArchive(container) }) };
    const call = ({ ask }: { ask: (docker: object) => Promise<unknown> }) => ask(docker);
    return new ImageUserFiles({ call } as unknown as Daemon);
  }

  it('are read once for launches at the same time', async () => {
    await writeFile(join(directory, 'passwd'), 'root\n');
    const reads: Read[] = [];
    const files = daemonWith(reads);
    const all = Promise.all(['a', 'b', 'c'].map((container) => files.read('image', container, 1000)));
    expect(reads.map(({ container }) => container)).toEqual(['a', 'a', 'a']);
    reads[0]!.answer(tar('ustar'));
    for (const read of reads.slice(1)) read.fail('Could not find the file /etc/group in container a');
    expect(await all).toEqual(Array(3).fill({ passwd: 'root\n', group: '', gitconfig: '' }));
    await files.read('image', 'd', 1000);
    expect(reads).toHaveLength(3);
  });

  it('are read from the next container if that one is gone', async () => {
    await writeFile(join(directory, 'passwd'), 'root\n');
    const reads: Read[] = [];
    const files = daemonWith(reads);
    const gone = files.read('image', 'a', 1000);
    const other = files.read('image', 'b', 1000);
    for (const read of reads) read.fail('(HTTP code 404) no such container - No such container: a');
    await expect(gone).rejects.toThrow('No such container: a');
    await vi.waitFor(() => expect(reads).toHaveLength(6), { timeout: 30_000 });
    for (const read of reads.slice(3)) read.answer(tar('ustar'));
    expect((await other).passwd).toBe('root\n');
    expect(reads[3]!.container).toBe('b');
  });
});

it('the sandbox’s user has a name, which precedes an entry of the image with its uid', () => {
  const files = withUser({ passwd: 'evil:x:7:0::/:/bin/sh\n', group: '', gitconfig: '[core]\n\teditor = vi\n' }, 7);
  expect(files.passwd.split('\n')[0]).toBe('sandbox:x:7:7:sandbox:/home/sandbox:/bin/sh');
  expect(files.gitconfig).toBe(
    '[include]\n\tpath = /run/agent/gitconfig\n[core]\n\teditor = vi\n\n[safe]\n\tdirectory = *\n',
  );
});
