import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bring } from '../../clients/cli/src/run/bring.ts';
import { findPreset } from '../../lib/permissions/index.ts';
import { servedOnce } from '../clients/typescript/served.ts';
import { commitAll } from '../lib/workspaces/commit.ts';
import { outcome, Sandbox } from '../lib/workspaces/sandbox.ts';

const KEY = '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----\n';
const CERTIFICATE = KEY.replaceAll('PRIVATE KEY', 'CERTIFICATE');
const BASE = {
  '.env': 'TOKEN=abc\n',
  '.env.example': 'TOKEN=\nPORT=3000\nMODE=changeme\n',
  '.npmrc': 'ignore-scripts=true\n',
  'ca.pem': `# an authority\n${CERTIFICATE}`,
  'server.key': KEY,
  'tests/ca.pem': CERTIFICATE,
  'node_modules/a/key.pem': KEY,
  '.venv/lib/site-packages/certifi/cacert.pem': CERTIFICATE,
  'lib/secrets/bindings.ts': 'export {};\n',
  'lib/secrets/.gitkeep': '',
};
const make = (preset: string, base: Record<string, string> = BASE) =>
  new Sandbox(base, { rules: [...findPreset(preset)!.permissions] });

describe.each(['development', 'agent-safe'])('with the preset %s', (preset) => {
  it('what has no secret in it is as it is, whatever its name', () => {
    const s = make(preset);
    const { '.env': _, 'server.key': __, ...plain } = BASE;
    expect(Object.fromEntries(Object.keys(plain).map((path) => [path, s.read(path)]))).toEqual(plain);
    for (const path of Object.keys(plain)) expect(s.stat(path).size).toBe(plain[path as keyof typeof plain].length);
  });

  it('a real secret has a placeholder', () => {
    const s = make(preset);
    expect(s.read('.env')).toMatch(/^TOKEN=pdk[a-z2-7]{24}\n$/);
    expect(s.read('server.key')).toMatch(/^-----BEGIN PRIVATE KEY-----\npdk[a-z2-7]{24}\n-----END/);
  });
});

describe('what the sandbox makes', () => {
  it('is as it was written, under every name of a secret', () => {
    const s = make('development', {});
    s.mkdir('secrets');
    for (const name of ['.env', 'a.key', 'id_rsa', '.netrc', 'secrets/x', 'a.p12']) {
      s.create(name, KEY);
      expect(s.read(name)).toBe(KEY);
    }
    s.create('plain', KEY);
    s.rename('plain', 'b.pem');
    s.link('b.pem', 'c.pem');
    s.forgetAll();
    for (const name of ['.env', 'b.pem', 'c.pem']) expect(s.read(name)).toBe(KEY);
    commitAll(s);
    expect(s.read('a.key')).not.toContain('MII');
  });

  it('shows no secret of the codebase by another name', () => {
    const s = make('development');
    for (const [from, to] of [
      ['server.key', 'plain'],
      ['.env', 'node_modules/a/env'],
    ]) {
      s.rename(from!, to!);
      expect(s.read(to!)).not.toMatch(/MII|abc/);
    }
    s.putBase('dir/.env', 'TOKEN=abc\n');
    expect(outcome(() => s.rename('dir', 'node_modules/dir'))).toBe('EACCES');
  });
});

describe('a place of a configuration of git', () => {
  it('is named by nothing that the sandbox makes', () => {
    const s = make('development', { '.git/HEAD': 'ref: x\n', 'sub/a': '' });
    for (const path of ['sub/.git', '.git/commondir', '.git/config'])
      expect(outcome(() => s.create(path, 'gitdir: ../.x\n'))).toBe('EACCES');
    s.create('plain', 'gitdir: ../.x\n');
    expect(outcome(() => s.rename('plain', 'sub/.git'))).toBe('EACCES');
    expect(outcome(() => s.link('plain', 'sub/.git'))).toBe('EACCES');
    expect(outcome(() => s.rename('.git', 'sub/.git'))).toBe('EACCES');
    s.create('.git/ORIG_HEAD', 'x');
  });
});

describe('in a run', () => {
  const served = servedOnce();
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'paddock-secrets-'));
  });
  afterEach(() => rm(directory, { recursive: true }));

  it('lines of both sides are merged with the values, not with placeholders', async () => {
    const env = 'TOKEN=abc\n# one\n# two\n# three\n# four\n# five\n';
    await writeFile(join(directory, '.env'), env);
    await using sandbox = await served.paddock().sandboxes.create({ from: directory, preset: 'development' });
    await sandbox.run('echo NEW=1 >> .env');
    await writeFile(join(directory, '.env'), env.replace('one', '1'));
    const { merged } = await bring(sandbox, directory, {});
    expect(merged).toEqual(['.env']);
    expect(await readFile(join(directory, '.env'), 'utf8')).toBe(`${env.replace('one', '1')}NEW=1\n`);
  });

  it('git finds no change in tracked files that have no secret', async () => {
    const git = (...args: string[]) =>
      execFileSync('git', ['-C', directory, '-c', 'user.name=a', '-c', 'user.email=a@example.org', ...args]);
    git('init', '-q');
    for (const path of ['.npmrc', '.env.example', 'ca.pem'] as const)
      await writeFile(join(directory, path), BASE[path]);
    git('add', '-A');
    git('commit', '-qm', 'one');
    await using sandbox = await served.paddock().sandboxes.create({ from: directory, preset: 'development' });
    expect((await sandbox.run("git -c safe.directory='*' status --porcelain")).stdout).toBe('');
  });
});
