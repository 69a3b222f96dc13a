import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Sandbox } from '../../clients/typescript/src/sandbox.ts';
import { cli } from '../clients/cli/cli.ts';
import { runCli } from '../clients/cli/run-cli.ts';
import { servedOnce } from '../clients/typescript/served.ts';

const served = servedOnce();
let repo: string;
let ran: string;
beforeEach(async () => {
  repo = await mkdtemp(join(tmpdir(), 'paddock-home-'));
  ran = join(repo, 'ran');
  execFileSync('git', ['init', '-q', repo]);
  await writeFile(join(repo, 'a'), 'a\n');
  await writeFile(join(repo, 'evil'), `#!/bin/sh\ntouch ${ran}\n`);
  await chmod(join(repo, 'evil'), 0o755);
});
afterEach(() => rm(repo, { recursive: true }));

/** A directory of git that is called docs, and what tools run on sight. */
const plant = () => `mkdir -p docs/objects docs/refs/heads .hg .vscode .git/hooks
  echo 'ref: refs/heads/x' > docs/HEAD
  printf '[core]\\nrepositoryformatversion=0\\nbare=false\\nworktree=.\\nfsmonitor=${repo}/evil\\n' > docs/config
  touch docs/objects/x docs/refs/heads/y
  printf '[hooks]\\nx=1\\n' > .hg/hgrc; echo use > .envrc; echo '{}' > .vscode/tasks.json
  printf '#!/bin/sh\\ntouch ${ran}\\n' > .git/hooks/post-checkout; chmod +x .git/hooks/post-checkout; echo b > a`;
const how = () => ({ url: served.url });
const names = async () =>
  (await readdir(repo, { recursive: true })).filter((name) => !/^(a|evil|\.git(\/.*)?)$/.test(name));
const status = () => {
  try {
    execFileSync('git', ['status'], { cwd: join(repo, 'docs'), stdio: 'ignore' });
  } catch {
    // In no repository.
  }
};
const here = async () => {
  status();
  expect((await names()).filter((name) => /^(ran|docs\/refs.*|\.hg.*|\.envrc|\.vscode.*)$/.test(name))).toEqual([]);
  expect((await readdir(join(repo, '.git/hooks'))).filter((name) => !name.endsWith('.sample'))).toEqual([]);
};

it('the trap runs a program where it is complete', async () => {
  await using sandbox = await served.paddock().sandboxes.create({ from: repo, preset: 'full-access' });
  await sandbox.run(plant(), { check: true });
  const archive = await runCli(['cp', `${sandbox.id}:docs`, '-'], how());
  expect(archive.exitCode).toBe(0);
  execFileSync('tar', ['-x', '-C', repo], { input: archive.stdout });
  status();
  expect(await names()).toContain('ran');
});

it('run --apply all brings neither repositories nor what tools run on sight, and keeps the sandbox for them', async () => {
  const args = ['run', '--from', repo, '--preset', 'full-access', '--apply', 'all', '--', 'sh', '-c', plant()];
  const { code, stderr } = await cli(args, how());
  expect([code, await readFile(join(repo, 'a'), 'utf8')]).toEqual([0, 'b\n']);
  await here();
  expect(stderr).toMatch(/left out \.envrc: direnv would run it on sight; --take \.envrc brings it/);
  expect(stderr).toMatch(/left out docs\/refs\/heads\/y: "docs" would become a repository of git/);
  const id = /sandbox (sb_\w+) is kept/.exec(stderr)![1]!;
  const pulled = await cli(['pull', id, repo, '.envrc'], how());
  expect([pulled.code, await readFile(join(repo, '.envrc'), 'utf8')]).toEqual([0, 'use\n']);
  expect((await cli(['pull', id, repo, '--take', '.vscode'], how())).code).toBe(0);
  expect(await readdir(join(repo, '.vscode'))).toEqual(['tasks.json']);
  await rm(join(repo, '.envrc'));
  await rm(join(repo, '.vscode'), { recursive: true });
  await here();
  await cli(['rm', id], how());
});

it('run --take brings a path that tools run on sight; --allow is about hosts only', async () => {
  const args = ['run', '--from', repo, '--preset', 'full-access', '--apply', 'all'];
  const command = ['--', 'sh', '-c', 'echo use > .envrc'];
  const { stderr } = await cli([...args, '--allow', '.envrc', ...command], how());
  expect(stderr).toMatch(/--allow or --deny/);
  expect(await names()).toEqual([]);
  await cli([...args, '--take', '.envrc', ...command], how());
  expect(await names()).toEqual(['.envrc']);
});

it('cp brings neither repositories nor what tools run on sight', async () => {
  await using sandbox = await served.paddock().sandboxes.create({ from: repo, preset: 'full-access' });
  await sandbox.run(plant(), { check: true });
  const { code, stderr } = await cli(['cp', `${sandbox.id}:.`, repo], how());
  expect([code, stderr]).toEqual([0, expect.stringMatching(/left out \.git\/hooks/)]);
  await here();
  // One by one, and into a repository.
  await cli(['cp', `${sandbox.id}:docs/HEAD`, join(repo, 'docs/HEAD')], how());
  await cli(['cp', `${sandbox.id}:docs/refs`, join(repo, 'docs')], how());
  await cli(['cp', `${sandbox.id}:.git/hooks/post-checkout`, join(repo, '.git/hooks/')], how());
  await here();
  expect((await cli(['cp', `${sandbox.id}:.envrc`, repo], how())).code).toBe(0);
  expect(await readFile(join(repo, '.envrc'), 'utf8')).toBe('use\n');
});

describe('what tools run on sight by a symlink that is here', () => {
  beforeEach(async () => {
    await mkdir(join(repo, 'conf/sub'), { recursive: true });
    await writeFile(join(repo, 'conf/tasks.json'), 'mine\n');
    await symlink('conf', join(repo, '.vscode'));
    await symlink('../../a', join(repo, '.git/hooks/pre-commit'));
  });
  const script = 'echo theirs > conf/tasks.json; echo new > conf/sub/new; echo b > a; echo c > c; ln -s out/x l';
  const made = async () => {
    const sandbox = await served.paddock().sandboxes.create({ from: repo, preset: 'full-access' });
    await sandbox.run(script, { check: true });
    // Of the user, who made it meanwhile.
    await symlink('/etc', join(repo, 'out'));
    return sandbox;
  };
  const stays = async () => {
    expect(await readFile(join(repo, 'conf/tasks.json'), 'utf8')).toBe('mine\n');
    expect([await readdir(join(repo, 'conf/sub')), await readFile(join(repo, 'a'), 'utf8')]).toEqual([[], 'a\n']);
    expect((await readdir(repo)).filter((name) => name === 'l')).toEqual([]);
  };

  it.each([['pull'], ['cp']])('does not come by %s unless it is named', async (by) => {
    await using sandbox = await made();
    const args = by === 'pull' ? ['pull', sandbox.id, repo] : ['cp', `${sandbox.id}:.`, repo];
    const { code, stderr } = await cli(args, how());
    expect([code, await readFile(join(repo, 'c'), 'utf8')]).toEqual([0, 'c\n']);
    await stays();
    const leads = 'leads to it, which tools run on sight; --take';
    expect(stderr).toMatch(new RegExp(`left out conf/sub/new: ".*\\.vscode" ${leads} conf brings it\n`));
    expect(stderr).toMatch(new RegExp(`left out a: ".*\\.git/hooks/pre-commit" ${leads} a brings it\n`));
    expect(stderr).toMatch(
      /left out l: it is a symlink to "out\/x", which leads out of the directory by another one\n/,
    );
    await cli([...args, '--take', 'conf'], how());
    expect(await readFile(join(repo, 'conf/tasks.json'), 'utf8')).toBe('theirs\n');
  });

  it('does not come by cp of its directory, but by cp of itself', async () => {
    await using sandbox = await made();
    const { stderr } = await cli(['cp', `${sandbox.id}:conf`, repo], how());
    await stays();
    expect(stderr).toContain('left out tasks.json: ".vscode" leads to it, which tools run on sight; --take tasks.json');
    await cli(['cp', `${sandbox.id}:conf/tasks.json`, join(repo, 'conf')], how());
    expect(await readFile(join(repo, 'conf/tasks.json'), 'utf8')).toBe('theirs\n');
  });
});

it('diff and cp into an archive name what pull would leave out, which git apply and tar do not', async () => {
  await using sandbox = await served.paddock().sandboxes.create({ from: repo, preset: 'full-access' });
  await sandbox.run(plant(), { check: true });
  for (const args of [
    ['diff', sandbox.id],
    ['diff', sandbox.id, '--tar'],
    ['cp', `${sandbox.id}:.`, '-'],
  ]) {
    const { code, stderr } = await cli(args, { ...how(), cwd: repo });
    expect(code).toBe(0);
    expect(stderr).toMatch(/warning: \.envrc: direnv would run it on sight\n/);
    expect(stderr).toMatch(/warning: \.vscode: Visual Studio Code would run it on sight\n/);
    expect(stderr).toMatch(/warning: docs\/refs.*: "docs" would become a repository of git\n/);
    expect(stderr.includes('warning: .git: ')).toBe(args.length > 2);
    expect(stderr).toMatch(/"paddock pull" leaves these out, "git apply" and "tar" do not\n/);
  }
  const { stdout, stderr } = await cli(['diff', sandbox.id, 'a'], { ...how(), cwd: repo });
  expect([stdout, stderr]).toEqual([expect.stringContaining('+b'), '']);
});

it('await using keeps a sandbox whose last pull left conflicts, and says so', async () => {
  const warn = vi.spyOn(console, 'warn').mockReturnValue();
  let id: string;
  {
    await using sandbox = await served.paddock().sandboxes.create({ from: repo, preset: 'full-access' });
    id = sandbox.id;
    await sandbox.run('echo theirs > a', { check: true });
    await writeFile(join(repo, 'a'), 'mine\n');
    expect((await sandbox.pull(repo)).conflicts).toEqual(['a']);
  }
  expect(warn.mock.calls).toEqual([[expect.stringMatching(`sandbox ${id} is kept: 1 of its changes .* "a"`)]]);
  warn.mockRestore();
  const kept = await served.paddock().sandboxes.get(id);
  expect(await kept.files.readText('a')).toBe('theirs\n');
  await kept.destroy();
});

it.each([
  ['a pull that raises its conflicts', (s: Sandbox) => expect(s.pull(repo, { onConflict: 'raise' })).rejects.toThrow()],
  [
    'a narrower pull after it',
    async (s: Sandbox) => {
      await s.pull(repo);
      await s.pull(repo, { paths: ['n'] });
    },
  ],
])('await using keeps a sandbox with conflicts after %s', async (_, pull) => {
  const warn = vi.spyOn(console, 'warn').mockReturnValue();
  let id: string;
  {
    await using sandbox = await served.paddock().sandboxes.create({ from: repo, preset: 'full-access' });
    id = sandbox.id;
    await sandbox.run('echo theirs > a; echo new > n', { check: true });
    await writeFile(join(repo, 'a'), 'mine\n');
    await pull(sandbox);
  }
  warn.mockRestore();
  await (await served.paddock().sandboxes.get(id)).destroy();
});

it('await using destroys a sandbox with conflicts once all of its changes are committed', async () => {
  let id: string;
  {
    await using sandbox = await served.paddock().sandboxes.create({ from: repo, preset: 'full-access' });
    id = sandbox.id;
    await sandbox.run('echo theirs > a', { check: true });
    await writeFile(join(repo, 'a'), 'mine\n');
    await sandbox.pull(repo);
    await sandbox.commit();
  }
  await expect(served.paddock().sandboxes.get(id)).rejects.toThrow(/does not exist/);
});

it('await using destroys a sandbox whose last pull brought everything, after one that did not', async () => {
  let id: string;
  {
    await using sandbox = await served.paddock().sandboxes.create({ from: repo, preset: 'full-access' });
    id = sandbox.id;
    await sandbox.run('echo theirs > a', { check: true });
    await writeFile(join(repo, 'a'), 'mine\n');
    await sandbox.pull(repo);
    await sandbox.pull(repo, { onConflict: 'replace' });
  }
  await expect(served.paddock().sandboxes.get(id)).rejects.toThrow(/does not exist/);
});

it('the review says what runs on this machine', async () => {
  const script = 'echo x: > Makefile; echo > .envrc';
  const { stderr } = await cli(
    ['run', '--from', repo, '--preset', 'full-access', '--apply', 'all', '--', 'sh', '-c', script],
    how(),
  );
  expect(stderr).toMatch(/A \.envrc \[direnv runs it on sight\]\nA Makefile \[runs on your machine: make\]/);
  await cli(['rm', /sandbox (sb_\w+) is kept/.exec(stderr)![1]!], how());
});
