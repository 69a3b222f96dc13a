import { execFileSync } from 'node:child_process';
import { chmod, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../clients/typescript/src/sandbox.ts';
import { cli } from '../clients/cli/cli.ts';
import { CLI } from '../clients/cli/run-cli.ts';
import { Tmux } from '../clients/cli/tmux.ts';
import { servedOnce } from '../clients/typescript/served.ts';

const served = servedOnce();
let repo: string;
/** Temporary files of the command line. */
let scratch: string;

beforeEach(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'paddock-commits-scratch-'));
  await chmod(scratch, 0o755);
  repo = await mkdtemp(join(tmpdir(), 'paddock-commits-test-'));
  begin();
});
afterEach(async () => {
  await rm(repo, { recursive: true });
  const left = await readdir(scratch);
  await rm(scratch, { recursive: true });
  expect(left).toEqual([]);
});

const git = (...args: string[]) =>
  execFileSync('git', ['-C', repo, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
function begin(...how: string[]): void {
  git('init', '-q', '-b', 'main', ...how);
  git('config', 'user.email', 'a@example.com');
  git('config', 'user.name', 'a');
  commit('one');
}
function commit(subject: string): void {
  git('commit', '-q', '--allow-empty', '-m', subject);
}
const branches = () => git('for-each-ref', '--format=%(refname:short)', 'refs/heads').split('\n');
const subjects = (branch: string) => git('log', '--format=%s', branch).split('\n');
const how = () => ({ url: served.url, env: { TMPDIR: scratch } });
const inside = (preset = 'full-access') =>
  served.paddock().sandboxes.create({ from: repo, preset, labels: { name: 'me' }, env: { PATH } });
/** Programs of the sandbox come first. */
const PATH = '/workspace/bin:/usr/local/bin:/usr/bin:/bin';
const pull = ({ id }: Sandbox, ...args: string[]) => cli(['pull', id, repo, '--commits', ...args], how());
const work = (sandbox: Sandbox, script: string) =>
  sandbox.run(`set -e; git config --global user.email e@x; git config --global user.name e; ${script}`, {
    check: true,
  });

describe('what is committed in a sandbox', () => {
  const SCRIPT = 'echo 1 > f; git add f; git commit -qm two; echo 2 > f; git commit -qam "three $(printf "\\033[31m")"';

  it('comes with run --apply all as a branch, and its objects are no changes', async () => {
    const before = git('rev-parse', 'main');
    const { code, stderr } = await cli(['run', '--from', repo, '--yes', '--', 'sh', '-c', SCRIPT], how());
    expect([code, stderr]).toEqual([
      0,
      expect.stringMatching(/^2 commits on main of the sandbox:\n {2}\w+ three \\x1b/),
    ]);
    const [, branch] = /2 commits: branch (paddock\/sb_\w+) \(git log -p main\.\.\1\)\n/.exec(stderr)!;
    expect(subjects(branch!)).toEqual(['three \x1b[31m', 'two', 'one']);
    expect([branches(), git('rev-parse', 'main'), git('symbolic-ref', 'HEAD')]).toEqual([
      ['main', branch],
      before,
      'refs/heads/main',
    ]);
    expect(['.git', '\x1b'].filter((each) => stderr.includes(each))).toEqual([]);
    expect([git('status', '--porcelain'), await readFile(join(repo, 'f'), 'utf8')]).toEqual(['?? f', '2\n']);
    git('fsck', '--strict');
  });

  it('stays in a kept sandbox without a terminal, and comes by pull --commits, which starts it for that', async () => {
    const ran = await cli(['run', '--from', repo, '--', 'sh', '-c', SCRIPT], how());
    const id = /2 commits not taken: "paddock pull (sb_\w+) --commits"/.exec(ran.stderr)![1]!;
    expect(branches()).toEqual(['main']);
    const files = await cli(['pull', id, repo], how());
    expect(files.stderr).toBe(
      'left out the commits of the sandbox; --commits brings them as a branch\n1 change applied\n',
    );
    const dry = await cli(['pull', id, repo, '--commits', '--dry-run'], how());
    expect([dry.code, branches()]).toEqual([0, ['main']]);
    expect((await cli(['pull', id, repo, '--commits'], how())).code).toBe(0);
    expect(subjects(branches()[1]!)).toEqual(['three \x1b[31m', 'two', 'one']);
    expect(JSON.parse((await cli(['ls', '--json'], how())).stdout)).toMatchObject([{ id, status: 'stopped' }]);
    await cli(['rm', id], how());
  });

  it('is asked for on a terminal, apart from the files', async () => {
    const script = `${CLI} run --from ${repo} -- sh -c 'echo 1 > f; git add f; git commit -qm two'; echo code=$?; sleep 1000`;
    const env = { PADDOCK_URL: served.url, HOME: '/nonexistent', PAGER: 'cat' };
    const taking = Tmux.start(script, env);
    await taking.shows(/Take these commits as paddock\/sb_\w+\?/);
    taking.line('y');
    await taking.shows('Take this change?');
    taking.line('n');
    await taking.shows('code=0');
    expect([branches().length, git('status', '--porcelain')]).toEqual([2, '']);
    const leaving = Tmux.start(script, env);
    await leaving.shows(/Take these commits as paddock\/sb_\w+\?/);
    leaving.line('n');
    await leaving.shows('Take this change?');
    leaving.line('a');
    await leaving.shows('code=0');
    expect([branches().length, git('status', '--porcelain')]).toEqual([2, '?? f']);
  });

  it('moves its branch forward only; one that differs or is checked out stays, and the next gets a number', async () => {
    await using sandbox = await inside();
    await work(sandbox, 'git commit -q --allow-empty -m two');
    expect((await pull(sandbox)).stderr).toMatch(/1 commit: branch paddock\/me /);
    expect((await pull(sandbox)).stderr).toBe('the sandbox has no commits that are not here\n');
    await work(sandbox, 'git commit -q --allow-empty -m three');
    expect((await pull(sandbox)).stderr).toMatch(/1 commit: branch paddock\/me /);
    await work(sandbox, 'git commit -q --amend --allow-empty -m again');
    expect((await pull(sandbox)).stderr).toMatch(/1 commit: branch paddock\/me-2 /);
    git('checkout', '-q', 'paddock/me-2');
    await work(sandbox, 'git commit -q --allow-empty -m four');
    expect((await pull(sandbox)).stderr).toMatch(/branch paddock\/me-3 .git log -p paddock\/me-2\.\.paddock\/me-3/);
    expect(['paddock/me', 'paddock/me-2', 'paddock/me-3'].map(subjects)).toEqual([
      ['three', 'two', 'one'],
      ['again', 'two', 'one'],
      ['four', 'again', 'two', 'one'],
    ]);
  });

  it('comes from other branches, too, by names that are made of theirs, and from a HEAD without a branch', async () => {
    await using sandbox = await inside();
    await work(
      sandbox,
      `git checkout -q -b 'a/é..b'"'"'$x' 2> /dev/null || git checkout -q -b 'a/é'; git commit -q --allow-empty -m other
      git checkout -q --detach main; git commit -q --allow-empty -m two; mkdir -p .git/refs/heads/-x
      git rev-parse HEAD > .git/refs/heads/-x/--upload-pack; git commit -q --allow-empty -m three`,
    );
    const { code, stderr } = await pull(sandbox);
    expect([code, branches()]).toEqual([0, ['main', 'paddock/me', 'paddock/me-a']]);
    expect(stderr).toContain('2 commits on HEAD of the sandbox');
    expect([subjects('paddock/me'), subjects('paddock/me-a')]).toEqual([
      ['three', 'two', 'one'],
      ['other', 'one'],
    ]);
  });

  it('comes by the real history, whatever replaces and grafts say in the sandbox', async () => {
    await using sandbox = await inside();
    await work(
      sandbox,
      `git commit -q --allow-empty -m two; git commit -q --allow-empty -m three; git replace -f HEAD $(git rev-parse HEAD~2)
      git rev-parse HEAD > .git/info/grafts`,
    );
    expect((await pull(sandbox)).code).toBe(0);
    expect(subjects('paddock/me')).toEqual(['three', 'two', 'one']);
    expect(git('for-each-ref', 'refs/replace')).toBe('');
  });
});

describe('a repository of any kind gets the commits', () => {
  const CHANGE = 'echo 2 > f; git add f; git commit -qm two';
  const outside = (script: string) =>
    execFileSync('sh', ['-ec', script], { cwd: repo, stdio: ['ignore', 'ignore', 'inherit'] });

  it('of SHA-256', async () => {
    await rm(join(repo, '.git'), { recursive: true });
    begin('--object-format=sha256');
    await using sandbox = await inside();
    await work(sandbox, CHANGE);
    expect((await pull(sandbox)).code).toBe(0);
    expect(git('rev-parse', 'paddock/me')).toMatch(/^[0-9a-f]{64}$/);
  });

  it.each([
    ['a shallow clone', '--no-local --depth=1'],
    ['a partial clone', '--no-local --filter=blob:none'],
    ['one with alternates', '--shared'],
  ])('%s', async (_, option) => {
    // The blob of f is in the history only.
    outside(`echo 1 > f; git add f; git commit -qm f; git rm -q f; git commit -qm gone; git config uploadpack.allowFilter true
      git clone -q ${option} . c; mv .git old; mv c/.git .; rm -r c
      git config user.email a@x; git config user.name a`);
    if (option === '--shared') await writeFile(join(repo, '.git/objects/info/alternates'), '../../old/objects\n');
    else await rm(join(repo, 'old'), { recursive: true });
    await using sandbox = await inside();
    await work(sandbox, 'echo 1 > f; git add f; git commit -qm two');
    const { code, stderr } = await pull(sandbox);
    expect([code, stderr]).toEqual([0, expect.stringContaining('1 commit: branch paddock/me')]);
    expect(subjects('paddock/me')[0]).toBe('two');
  });
});

describe('a hostile sandbox', () => {
  /** Nothing came, and the repository is as it was. */
  async function isRefused(sandbox: Sandbox, why: RegExp | string, ...args: string[]): Promise<void> {
    const before = await readdir(join(repo, '.git'), { recursive: true });
    const { code, stderr } = await pull(sandbox, ...args);
    expect([code, stderr]).toEqual([expect.toSatisfy((it) => it === 1 || it === 125), expect.stringMatching(why)]);
    expect(stderr).not.toContain('\x1b');
    expect(await readdir(join(repo, '.git'), { recursive: true })).toEqual(before);
  }
  /** Commits a tree made of lines for mktree, in which $blob and $tree are objects. */
  const tree = (lines: string, content = 'x') => `
    blob=$(printf '${content}' | git hash-object -w --stdin); tree=$(printf "100644 blob $blob\\tconfig\\n" | git mktree)
    top=$(printf "${lines}" | git mktree); git update-ref HEAD $(git commit-tree -p HEAD -m bad $top)`;

  const TIP = `echo ${'1'.repeat(40)} refs/heads/x`;
  const PACK = String.raw`printf 'PACK\0\0\0\2`;

  it.each([
    ['garbage', 'echo garbage', 'echo garbage'],
    ['lines without end', 'yes', ''],
    ['a line without end', 'tr "\\0" x < /dev/zero', ''],
    ['other references', `echo ${'1'.repeat(40)} refs/../x`, ''],
    ['no pack', TIP, 'echo garbage, and more of it'],
    ['a pack without its branch', TIP, `${PACK}\\0\\0\\0\\0'; ${PACK}\\0\\0\\0\\0' | openssl dgst -sha1 -binary`],
    ['a pack of any number of objects', TIP, `${PACK}\\377\\377\\377\\377'; cat /dev/zero`],
    ['a pack without end', TIP, `${PACK}\\0\\0\\0\\001'; cat /dev/zero`],
    // The size is in the first bytes.
    ['a tree of 12 GiB', TIP, `${PACK}\\0\\0\\0\\001\\240\\200\\200\\200\\200\\006\\170\\234'; cat /dev/zero`],
    ['errors without end', TIP, 'timeout 5 yes >&2'],
  ])('sends %s, and nothing comes', async (_, header, pack) => {
    await using sandbox = await inside();
    await sandbox.files.write(
      'bin/git',
      `#!/bin/sh\ncase "$*" in *for-each-ref*) ${header};; *pack-objects*) ${pack};; esac\n`,
    );
    await sandbox.run('chmod +x bin/git', { check: true });
    await isRefused(sandbox, /^paddock: .{10,200}\n$/);
  });

  it.each([
    ['.git in a directory', String.raw`040000 tree $tree\t.git\n`, /hasDotgit/],
    ['.git by another name', String.raw`040000 tree $tree\t.GIT\n`, /hasDotgit/],
    ['.git by a short name', String.raw`040000 tree $tree\tgit~1\n`, /hasDotgit/],
    ['..', String.raw`040000 tree $tree\t..\n`, /hasDotdot/],
    ['a name twice', String.raw`100644 blob $blob\ta\n100755 blob $blob\ta\n`, /duplicateEntries/],
    ['another kind of repository', String.raw`040000 tree $tree\t.hg\n`, /\.hg\/config: it is in \.hg/],
    [
      'a symlink that leads out',
      String.raw`120000 blob $blob\tlink\n`,
      /a symlink to "..\/x", out of the directory/,
      '../x',
    ],
  ])('commits %s, and nothing comes', async (_, lines, why, content = 'x') => {
    await using sandbox = await inside();
    await work(sandbox, tree(lines, content));
    await isRefused(sandbox, why);
  });

  it('commits settings of submodules by which git would run programs, and nothing comes', async () => {
    await using sandbox = await inside();
    const modules = '[submodule "s"]\\n\\tpath = s\\n\\turl = -u./evil\\n';
    await work(sandbox, `printf '${modules}' > .gitmodules; git add .gitmodules; git commit -qm bad`);
    await isRefused(sandbox, /gitmodulesUrl/, '--take', '.gitmodules');
  });

  it('commits a directory that is a repository, also in several commits, and nothing comes', async () => {
    await using sandbox = await inside();
    await work(
      sandbox,
      `mkdir -p d/objects d/refs; echo x > d/HEAD; echo x > d/objects/x; git add d; git commit -qm a
      git mv d/HEAD d/h; git commit -qm b; echo x > d/refs/x; git add d; git commit -qm c`,
    );
    await isRefused(sandbox, /"d" would become a repository of git/);
  });

  it('commits what tools run on sight, which comes only if it is allowed', async () => {
    await using sandbox = await inside();
    await work(
      sandbox,
      `mkdir .vscode; echo {} > .vscode/tasks.json; git add .vscode; git commit -qm tasks; git rm -qr .vscode; git commit -qm gone`,
    );
    await isRefused(
      sandbox,
      /they change \.vscode: Visual Studio Code would run it on sight, once [\s\S]*--take \.vscode brings them/,
    );
    expect((await pull(sandbox, '--take', '.vscode')).code).toBe(0);
    expect(subjects('paddock/me')).toEqual(['gone', 'tasks', 'one']);
  });

  it('commits what tools run on sight by a symlink that is here, which comes only if it is allowed', async () => {
    await using sandbox = await inside();
    await work(sandbox, `mkdir conf; echo {} > conf/tasks.json; git add conf; git commit -qm tasks`);
    await symlink('conf', join(repo, '.vscode'));
    await isRefused(sandbox, /they change conf: "\.vscode" leads to it[\s\S]*--take conf brings them/);
    expect((await pull(sandbox, '--take', 'conf')).code).toBe(0);
    expect(subjects('paddock/me')).toEqual(['tasks', 'one']);
  });

  it('commits more paths than can be looked at, in a few small trees, and nothing comes', async () => {
    await using sandbox = await inside();
    await work(
      sandbox,
      `id=$(echo x | git hash-object -w --stdin); line="100644 blob $id"
      for level in 1 2 3 4 5 6 7 8; do
        id=$(for name in 0 1 2 3 4 5 6 7 8 9; do printf '%s\\t%s\\n' "$line" $name; done | git mktree); line="040000 tree $id"
      done; git update-ref HEAD $(git commit-tree -p HEAD -m bomb $id)`,
    );
    await isRefused(sandbox, /printed more than|more than 100000 paths|out of memory/);
  });

  it('commits what refers to objects that are nowhere, and nothing comes', async () => {
    await using sandbox = await inside();
    const nowhere = '1'.repeat(40);
    await work(
      sandbox,
      `git update-ref HEAD $(git commit-tree -p HEAD -m bad $(printf '100644 blob ${nowhere}\\tx\\n' | git mktree --missing))`,
    );
    await isRefused(sandbox, /git in the sandbox failed|failed/);
  });

  it('has hooks, filters and programs in its configuration, of which none runs here, as none of those here do', async () => {
    const ran = join(repo, '.git/ran');
    const program = `#!/bin/sh\necho "$0 $*" >> ${ran}\n`;
    await writeFile(join(repo, '.git/program'), program);
    await chmod(join(repo, '.git/program'), 0o755);
    for (const hook of ['reference-transaction', 'post-update', 'post-index-change', 'pre-auto-gc'])
      await writeFile(join(repo, '.git/hooks', hook), program, { mode: 0o755 });
    for (const name of ['core.fsmonitor', 'core.alternateRefsCommand', 'core.sshCommand', 'core.pager', 'gpg.program'])
      git('config', name, join(repo, '.git/program'));
    git('config', 'log.showSignature', 'true');
    await using sandbox = await inside();
    await rm(ran, { force: true });
    const plant = `printf '#!/bin/sh\\ntouch ${ran}; exec "$@"\\n' > program; chmod +x program; mkdir -p .git/hooks; cp program .git/hooks/reference-transaction
      git config core.fsmonitor ${repo}/program; git config uploadpack.packObjectsHook ${repo}/program
      git config filter.x.clean ${repo}/program; git config alias.pack-objects '!touch ${ran}'; echo '* filter=x' > .git/info/attributes`;
    await work(
      sandbox,
      `echo 2 > f; git add f; git -c core.fsmonitor= commit -qm two; echo /etc >> .git/objects/info/alternates; ${plant}`,
    );
    expect((await pull(sandbox)).code).toBe(0);
    expect((await cli(['pull', sandbox.id, repo], how())).code).toBe(0);
    await expect(stat(ran)).rejects.toThrow('ENOENT');
    expect(subjects('paddock/me')).toEqual(['two', 'one']);
  });
});

it('root does not act in the repository of another user, whose the objects and the branch are', async () => {
  const uid = 12345;
  execFileSync('chown', ['-R', `${uid}:${uid}`, repo]);
  const as = { uid, gid: uid };
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', repo, ...args], {
      ...as,
      encoding: 'utf8',
      env: { PATH: process.env.PATH, HOME: '/nonexistent' },
    });
  const sandbox = await inside();
  await work(sandbox, 'git commit -q --allow-empty -m two');
  expect((await pull(sandbox)).code).toBe(0);
  await sandbox.destroy();
  expect(git('log', '--format=%s', 'paddock/me')).toBe('two\none\n');
  git('branch', '-D', 'paddock/me');
  const owners = execFileSync('find', [repo, '!', '-uid', String(uid)], { encoding: 'utf8' });
  expect(owners).toBe('');
});

describe('the index here', () => {
  it('knows files that were applied as they are in it, and what is staged stays', async () => {
    await writeFile(join(repo, 'f'), 'old\n');
    await writeFile(join(repo, 'g'), 'old\n');
    git('add', '.');
    git('commit', '-qm', 'two');
    await using sandbox = await inside();
    await work(sandbox, 'echo new > f');
    await writeFile(join(repo, 'f'), 'new\n');
    await writeFile(join(repo, 'g'), 'staged\n');
    git('add', '.');
    await writeFile(join(repo, 'f'), 'old\n');
    expect((await cli(['pull', sandbox.id, repo], how())).code).toBe(0);
    expect([git('diff-files', '--name-only'), git('diff', '--cached', '--name-only')]).toEqual(['', 'f\ng']);
  });

  it('is left to the git that holds it', async () => {
    await using sandbox = await inside();
    await work(sandbox, 'echo new > f');
    await writeFile(join(repo, '.git/index.lock'), '');
    expect((await cli(['pull', sandbox.id, repo], how())).code).toBe(0);
    expect(await readFile(join(repo, '.git/index.lock'), 'utf8')).toBe('');
  });
});

it('a linked worktree gets no commits, and is told where they come', async () => {
  git('worktree', 'add', '-q', join(repo, 'linked'));
  await using sandbox = await inside();
  await work(sandbox, 'git commit -q --allow-empty -m two');
  const { code, stderr } = await cli(['pull', sandbox.id, join(repo, 'linked'), '--commits'], how());
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/linked\/\.git is a link: commits come only to the main worktree/),
  ]);
});

it('commits of submodules are left out, and named', async () => {
  await using sandbox = await inside();
  await work(
    sandbox,
    `git init -q s; git -C s commit -q --allow-empty -m s; git add s 2> /dev/null; git commit -qm two`,
  );
  const { code, stderr } = await pull(sandbox);
  expect([code, stderr]).toEqual([0, expect.stringContaining('left out commits of 1 submodule: s\n')]);
});
