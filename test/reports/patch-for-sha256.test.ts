import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { servedOnce } from '../clients/typescript/served.ts';

const served = servedOnce();

it.each(['sha1', 'sha256'])('git applies binary files of a patch in a repository with %s', async (format) => {
  const repository = mkdtempSync(join(tmpdir(), 'paddock-patch-'));
  try {
    const git = (...args: string[]) => execFileSync('git', ['-C', repository, ...args], { encoding: 'utf8' });
    execFileSync('git', ['init', '-q', `--object-format=${format}`, repository]);
    for (const name of ['changed', 'removed']) writeFileSync(join(repository, name), `\0${name}`);
    git('add', '-A');
    await using sandbox = await served.paddock().sandboxes.create({ from: repository, preset: 'full-access' });
    await sandbox.run("printf '\\0c' > changed; rm removed; printf '\\0a' > added; echo text > text", { check: true });
    const patch = await sandbox.patch();
    execFileSync('git', ['-C', repository, 'apply', '--index', '-'], { input: patch });
    const contents = ['changed', 'added', 'text'].map((name) => readFileSync(join(repository, name), 'utf8'));
    expect(contents).toEqual(['\0c', '\0a', 'text\n']);
    expect(git('ls-files').split('\n')).not.toContain('removed');
  } finally {
    rmSync(repository, { recursive: true });
  }
});
