import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { tarFile, withUser } from '../../../../lib/runtime/docker/user-files.ts';

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

it('the sandbox’s user has a name, which precedes an entry of the image with its uid', () => {
  const files = withUser({ passwd: 'evil:x:7:0::/:/bin/sh\n', group: '', gitconfig: '[core]\n\teditor = vi\n' }, 7);
  expect(files.passwd.split('\n')[0]).toBe('sandbox:x:7:7:sandbox:/home/sandbox:/bin/sh');
  expect(files.gitconfig).toBe(
    '[include]\n\tpath = /run/agent/gitconfig\n[core]\n\teditor = vi\n\n[safe]\n\tdirectory = *\n',
  );
});
