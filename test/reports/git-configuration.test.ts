import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../clients/typescript/src/index.ts';
import { runCli } from '../clients/cli/run-cli.ts';
import { servedOnce } from '../clients/typescript/served.ts';

const TOKEN = 'ghp_aB3dE5gH7jK9mN1pQ3sT5vX7zA9cE1gI3kM5';
const HEADER = 'QmFzaWMgaGVhZGVyIHNlY3JldA';
const PRESETS = ['development', 'agent-safe'] as const;

const served = servedOnce();
let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'paddock-git-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

const ENV = { PATH: process.env.PATH, HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' };
const IDENTITY = ['-c', 'user.name=n', '-c', 'user.email=e@x', '-c', 'protocol.file.allow=always'];
const git = (cwd: string, ...args: string[]) =>
  execFileSync('git', [...IDENTITY, ...args], { cwd, env: ENV, encoding: 'utf8', stdio: 'pipe' });

/** A repository with one commit. */
function repository(name: string, ...options: string[]): string {
  const path = join(directory, name);
  mkdirSync(path);
  git(path, 'init', '-q', '-b', 'main', ...options);
  writeFileSync(join(path, 'a.txt'), 'one\ntwo\n');
  git(path, 'add', '.');
  git(path, 'commit', '-q', '-m', 'first');
  return path;
}

async function inSandbox(from: string, preset: string, use: (sandbox: Sandbox) => Promise<void>): Promise<void> {
  const sandbox = await served.paddock().sandboxes.create({ from, preset });
  try {
    await use(sandbox);
  } finally {
    await sandbox.destroy();
  }
}

const output = async (sandbox: Sandbox, command: string) => (await sandbox.run(command, { check: true })).stdout;

describe.each(PRESETS)('git in a sandbox of the preset %s', (preset) => {
  it('reads a repository with SHA-256', async () => {
    await inSandbox(repository('sha256', '--object-format=sha256'), preset, async (sandbox) => {
      expect(await output(sandbox, 'git status --porcelain && git log --format=%s')).toBe('first\n');
      expect((await output(sandbox, 'git rev-parse HEAD')).trim()).toHaveLength(64);
    });
  });

  it('sees no change of line ends that core.autocrlf makes', async () => {
    const path = repository('crlf');
    git(path, 'config', 'core.autocrlf', 'true');
    rmSync(join(path, 'a.txt'));
    git(path, 'checkout', '-q', '.');
    expect(readFileSync(join(path, 'a.txt'), 'utf8')).toBe('one\r\ntwo\r\n');
    await inSandbox(path, preset, async (sandbox) => {
      // Without the times of the index, which the upload makes older.
      expect(await output(sandbox, 'GIT_OPTIONAL_LOCKS=0 git status --porcelain')).toBe('');
    });
  });

  it('shows remotes and identity, and no secret of its configuration', async () => {
    const path = repository('remotes');
    git(path, 'remote', 'add', 'origin', `https://x-access-token:${TOKEN}@host.test/o/r.git`);
    git(path, 'remote', 'add', 'plain', 'https://github.com/Org/Repo2-With-A-Long-Name.git');
    git(path, 'remote', 'add', 'ssh', 'git@host.test:o/r.git');
    git(path, 'config', 'http.https://host.test/.extraHeader', `AUTHORIZATION: basic ${HEADER}`);
    git(path, 'config', `url.https://u:${TOKEN}@host.test/.insteadOf`, 'https://host.test/');
    git(path, 'config', 'credential.helper', `!f() { echo password=${TOKEN}; }; f`);
    git(path, 'config', 'user.name', 'A Person');
    git(path, 'config', 'extensions.worktreeConfig', 'true');
    git(path, 'config', '--worktree', 'remote.w.url', `https://${TOKEN}@host.test/w.git`);
    await inSandbox(path, preset, async (sandbox) => {
      const remotes = await output(sandbox, 'git remote -v');
      expect(remotes).toMatch(/^origin\thttps:\/\/\w*pdk[a-z2-7]{24}@host\.test\/o\/r\.git \(fetch\)$/m);
      expect(remotes).toMatch(/^plain\thttps:\/\/github\.com\/Org\/Repo2-With-A-Long-Name\.git \(fetch\)$/m);
      expect(remotes).toMatch(/^ssh\tgit@host\.test:o\/r\.git \(fetch\)$/m);
      expect(await output(sandbox, 'git config user.name')).toBe('A Person\n');
      for (const secret of [TOKEN, TOKEN.slice(4), HEADER]) {
        const found = await sandbox.run(
          `grep -rF ${secret} . ; git cat-file --batch-all-objects --batch --buffer | grep -aF ${secret}; git config -l | grep -F ${secret}`,
        );
        expect([secret, found.stdout]).toEqual([secret, '']);
      }
      for (const name of ['config', 'config.worktree'])
        expect(await sandbox.files.readText(`.git/${name}`)).not.toContain(TOKEN.slice(4));
    });
  });

  it('cannot change its configuration, which runs programs outside of the sandbox', async () => {
    await inSandbox(repository('unchanged'), preset, async (sandbox) => {
      for (const command of [
        'git config core.fsmonitor x',
        'echo x >> .git/config',
        'rm .git/config',
        'echo x > .git/new && mv .git/new .git/config',
      ])
        expect([command, (await sandbox.run(command)).exitCode]).not.toEqual([command, 0]);
      expect(await sandbox.changes({ paths: ['.git/config'] })).toEqual([]);
    });
  });
});

it('commits in a sandbox go into a repository with its own configuration, and into that of a submodule', async () => {
  const inner = repository('inner');
  const path = repository('outer');
  git(path, 'submodule', '--quiet', 'add', inner, 'sub');
  git(path, 'commit', '-q', '-m', 'sub');
  git(join(path, 'sub'), 'config', 'http.extraHeader', `AUTHORIZATION: basic ${HEADER}`);
  await inSandbox(path, 'development', async (sandbox) => {
    const commit = `git ${IDENTITY.map((each) => `'${each}'`).join(' ')} commit -q -a -m second`;
    expect(await output(sandbox, `echo x >> sub/a.txt && cd sub && ${commit} && git log --format=%s`)).toBe(
      'second\nfirst\n',
    );
    expect(await output(sandbox, `${commit} && git log --format=%s && git status --porcelain`)).toBe(
      'second\nsub\nfirst\n',
    );
    expect((await sandbox.run(`grep -rF ${HEADER} .`)).stdout).toBe('');
  });
});

describe('a directory whose repository is elsewhere', () => {
  const linked = () => {
    const path = repository('main');
    const worktree = join(directory, 'linked');
    git(path, 'worktree', 'add', '-q', worktree);
    return worktree;
  };
  const SENTENCE = /\.git of .* repository is .*main\/.git\/worktrees\/linked, outside of the directory/;

  it('is refused before the upload by the TypeScript client', async () => {
    const creating = served.paddock().sandboxes.create({ from: linked(), preset: 'development' });
    await expect(creating).rejects.toThrow(SENTENCE);
    for await (const each of served.paddock().codebases.list()) expect(each).toBeUndefined();
  });

  it('is refused before the upload by the command line, and taken without .git', async () => {
    const worktree = linked();
    const run = await runCli(['create', '--from', worktree, '--preset', 'development'], { url: served.url });
    expect([run.exitCode, run.stderr]).not.toEqual([0, expect.anything()]);
    expect(run.stderr).toMatch(SENTENCE);
    await inSandboxWithout(worktree);
  });

  async function inSandboxWithout(from: string): Promise<void> {
    const sandbox = await served.paddock().sandboxes.create({ from, exclude: ['/.git'], preset: 'development' });
    expect(await output(sandbox, 'ls -A')).toBe('a.txt\n');
    await sandbox.destroy();
  }
});
