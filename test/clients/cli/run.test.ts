import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { all } from '../../../clients/cli/src/names/all.ts';
import { emptyDirectory } from '../../directory.ts';
import { servedOnce } from '../typescript/served.ts';
import { BrokenNetwork } from './broken-network.ts';
import { cli, start } from './cli.ts';
import { CLI } from './run-cli.ts';
import { Tmux } from './tmux.ts';

const served = servedOnce();
const repo = emptyDirectory();
const outside = emptyDirectory();

afterEach(async () => {
  // Of the codebases, too, nothing is left.
  const { codebases, sandboxes } = served.paddock();
  for await (const each of sandboxes.list()) expect(each).toBeUndefined();
  for await (const each of codebases.list()) expect(each).toBeUndefined();
});

const run = (...args: string[]) => cli(['run', '--from', repo, ...args], { url: served.url });
const put = (path: string, content: string | Uint8Array) => writeFile(join(repo, path), content);
const get = (path: string) => readFile(join(repo, path), 'utf8');
const lines = (count: number) => Array.from({ length: count }, (_, at) => `${at}\n`).join('');

async function onlySandbox() {
  const found = [];
  for await (const each of served.paddock().sandboxes.list()) found.push(each);
  expect(found.length).toBe(1);
  return found[0]!;
}

it('keeps the exit code, and applies nothing without a terminal: the sandbox is kept, and pulled later', async () => {
  await put('a.txt', 'a\n');
  const ended = await run(
    '--preset',
    'full-access',
    '--',
    'sh',
    '-c',
    'echo out; echo b > a.txt; echo c > .git; exit 3',
  );
  expect(ended).toMatchObject({ code: 3, stdout: 'out\n' });
  const { id } = await onlySandbox();
  expect(ended.stderr).toMatch(new RegExp(`-a\n\\+b\n.*2 changes not applied\n.*${id} is kept`, 's'));
  expect(await get('a.txt')).toBe('a\n');
  const how = { url: served.url };
  expect(await cli(['pull', id, repo], how)).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/it could redirect git to another repository/),
  });
  expect(await get('a.txt')).toBe('b\n');
  expect(await cli(['rm', id.slice(0, 12)], how)).toMatchObject({ code: 0, stdout: `${id}\n` });
});

describe('in a repository of git', () => {
  const git = (...args: string[]) => execFileSync('git', ['-C', repo, ...args], { stdio: 'pipe' });

  it('leaves out what git ignores and does not track, also what was there before, and says how much', async () => {
    git('init', '-q');
    await mkdir(join(repo, 'out'));
    await Promise.all([put('.gitignore', 'out\n*.log\n'), put('tracked.log', 't\n'), put('moved', 'm\n')]);
    await Promise.all(['a.log', 'gone.log', 'out/o'].map((path) => put(path, 'old\n')));
    git('add', '.');
    git('add', '-f', 'tracked.log');
    const work = 'echo x >> a.log; rm gone.log; echo x >> out/o; echo x >> tracked.log; mv moved out/moved';
    const ended = await run('--yes', '--', 'sh', '-c', work);
    expect(ended.stderr).toContain('left out: 3 paths that git ignores; --ignored shows them');
    expect(await Promise.all(['a.log', 'gone.log', 'out/o', 'out/moved'].map(get))).toEqual([
      'old\n',
      'old\n',
      'old\n',
      'm\n',
    ]);
    expect(await get('tracked.log')).toBe('t\nx\n');
    expect((await readdir(repo)).sort()).toEqual(['.git', '.gitignore', 'a.log', 'gone.log', 'out', 'tracked.log']);
    const all = await run('--yes', '--ignored', '--', 'sh', '-c', 'echo x >> a.log; rm gone.log');
    expect(all.stderr).not.toContain('left out');
    expect(await get('a.log')).toBe('old\nx\n');
  });

  it('takes installed dependencies for scratch, and reviews those that git tracks', async () => {
    git('init', '-q');
    const places = ['node_modules/a', 'test/node_modules/a'];
    await Promise.all(places.map((place) => mkdir(join(repo, place), { recursive: true })));
    await Promise.all([...places.map((place) => put(`${place}/index.js`, 'old\n')), put('a.txt', 'a\n')]);
    git('add', 'a.txt', 'test');
    const work = `for each in ${places.join(' ')}; do cat $each/index.js; echo new > $each/index.js; touch $each/n; done
      mkdir -p .venv/bin sub/venv/lib; touch .venv/bin/python sub/venv/lib/x sub/venv/pyvenv.cfg; echo b > a.txt`;
    const { stdout, stderr } = await run('--yes', '--', 'sh', '-c', work);
    expect(stdout).toBe('old\nold\n');
    expect(stderr).toContain('3 changes applied');
    expect(await Promise.all([...places.map((place) => `${place}/index.js`), 'a.txt'].map(get))).toEqual([
      'old\n',
      'new\n',
      'b\n',
    ]);
    expect((await readdir(join(repo, 'test/node_modules/a'))).sort()).toEqual(['index.js', 'n']);
    expect((await readdir(repo)).sort()).toEqual(['.git', 'a.txt', 'node_modules', 'test']);
  });
});

it('applies text, binary files, modes, links and removals, and merges with what was edited here meanwhile', async () => {
  await Promise.all([put('both.txt', lines(20)), put('here.txt', 'x\n'), put('gone.txt', 'gone\n')]);
  await Promise.all([
    put('binary', new Uint8Array([0, 1])),
    put('clash.txt', lines(3)),
    symlink('here.txt', join(repo, 'link')),
  ]);
  const script = `sed -i 's/^0$/zero/' both.txt clash.txt; rm gone.txt link; ln -s binary link; ln -s /etc/passwd out;
    printf '\\0\\2' > binary; chmod +x here.txt; mkdir -p new/dir; echo n > "$(printf 'n\\033[2J\\nm')"; echo n > new/dir/n;
    touch edited; while [ ! -e go ]; do sleep 0.05; done; rm go edited`;
  const { ended } = start(['run', '--from', repo, '--yes', '--', 'sh', '-c', script], { url: served.url });
  const { sandboxes } = served.paddock();
  const sandbox = await expect
    .poll(async () => {
      for await (const { id } of sandboxes.list()) {
        const found = await sandboxes.get(id);
        if (await found.files.asOwner().exists('edited')) return found;
      }
      return undefined;
    })
    .toBeDefined()
    .then(async () => sandboxes.get((await onlySandbox()).id));
  await put('both.txt', lines(20).replace('19\n', 'last\n'));
  await put('clash.txt', lines(3).replace('0\n', 'null\n'));
  await sandbox.files.asOwner().write('go', '');
  const { code, stderr } = await ended;
  // A conflict is a failure, and its sandbox is kept.
  expect(code).toBe(125);
  expect(stderr).toMatch(/merged both.txt.*conflict clash.txt.*left out out: .*is kept/s);
  expect(stderr).not.toContain('\x1b');
  expect(stderr).toContain('A n\\x1b[2J\\nm\n');
  expect(stderr).toContain('A new/ (1 file)\n');
  expect(await get('both.txt')).toBe(lines(20).replace('19\n', 'last\n').replace('0\n', 'zero\n'));
  expect(await get('clash.txt')).toBe(lines(3).replace('0\n', 'null\n'));
  expect((await readdir(repo)).sort()).toEqual([
    'binary',
    'both.txt',
    'clash.txt',
    'here.txt',
    'link',
    'n\x1b[2J\nm',
    'new',
  ]);
  expect(await readFile(join(repo, 'binary'))).toEqual(Buffer.from([0, 2]));
  expect((await stat(join(repo, 'here.txt'))).mode & 0o111).toBe(0o111);
  expect(await readlink(join(repo, 'link'))).toBe('binary');
  expect(await readdir(join(repo, 'new/dir'))).toEqual(['n']);
  expect((await cli(['rm', sandbox.id], { url: served.url })).code).toBe(0);
});

it('never writes through a symlink that is here only', async () => {
  await mkdir(join(repo, 'd'));
  const { ended } = start(
    [
      'run',
      '--from',
      repo,
      '--yes',
      '--keep',
      '--',
      'sh',
      '-c',
      'while [ ! -e go ]; do sleep 0.05; done; echo x > d/x',
    ],
    { url: served.url },
  );
  await expect.poll(async () => (await all(served.paddock().sandboxes.list())).length).toBe(1);
  const sandbox = await served.paddock().sandboxes.get((await onlySandbox()).id);
  await rm(join(repo, 'd'), { recursive: true });
  await symlink(outside, join(repo, 'd'));
  await sandbox.files.asOwner().write('go', '');
  expect(await ended).toMatchObject({ code: 125, stderr: expect.stringMatching(/conflict d\/x/) });
  expect(await readdir(outside)).toEqual([]);
  expect((await cli(['rm', sandbox.id], { url: served.url })).code).toBe(0);
});

it('ends what the command left running before it shows the changes', async () => {
  const script = '(setsid sh -c "sleep 0.2; echo late > late" >/dev/null 2>&1 &) ; echo early > early';
  const { stdout, code } = await run('--keep', '--apply', 'all', '--', 'sh', '-c', script);
  expect([code, stdout]).toEqual([0, '']);
  const { id, status } = await onlySandbox();
  expect([status, await get('early')]).toEqual(['stopped', 'early\n']);
  expect((await cli(['rm', id], { url: served.url })).code).toBe(0);
});

it('leaves nothing behind after ^C during the upload, and after SIGTERM during the command', async () => {
  await put('big', Buffer.alloc(64 * 1024 * 1024));
  const uploading = start(['run', '--from', repo, '--', 'true'], { url: served.url });
  await expect.poll(async () => (await all(served.paddock().codebases.list())).length).toBe(1);
  uploading.child.kill('SIGINT');
  expect((await uploading.ended).code).toBe(130);
  await rm(join(repo, 'big'));
  const running = start(['run', '--from', repo, '--', 'sh', '-c', 'echo new > new; echo on; exec sleep 1000'], {
    url: served.url,
  });
  await new Promise((on) => running.child.stdout!.once('data', on));
  running.child.kill('SIGTERM');
  expect((await running.ended).code).toBe(143);
  expect(await readdir(repo)).toEqual([]);
});

it('keeps the sandbox if ^C comes while the changes are applied', async () => {
  const { child, ended } = start(
    ['run', '--from', repo, '--yes', '--', 'sh', '-c', 'i=0; while [ $((i += 1)) -le 2000 ]; do echo $i > $i; done'],
    { url: served.url },
  );
  await expect.poll(async () => (await readdir(repo)).length, { timeout: 60_000, interval: 5 }).toBeGreaterThan(0);
  child.kill('SIGINT');
  const { code, stderr } = await ended;
  expect(code).toBe(130);
  const { id } = await onlySandbox();
  expect(stderr).toMatch(new RegExp(`not all changes were applied\n.*${id} is kept`));
  expect((await cli(['pull', id, repo], { url: served.url })).code).toBe(0);
  expect((await readdir(repo)).length).toBe(2000);
  expect((await cli(['rm', id], { url: served.url })).code).toBe(0);
});

it('fails with 125 for its own failures, and 127 and 126 for commands that cannot be run', async () => {
  expect(await run('--', '/nonexistent')).toMatchObject({ code: 127 });
  await put('a.txt', '');
  expect(await run('--', './a.txt')).toMatchObject({ code: 126 });
  expect(await run('--rule', 'write', '--', 'ls')).toMatchObject({
    code: 125,
    stderr: expect.stringMatching(/a rule is/),
  });
  const missing = await cli(['run', '--from', join(repo, 'none'), '--', 'ls'], { url: served.url });
  expect(missing).toMatchObject({ code: 125, stderr: expect.stringMatching(/^paddock: .* is not a directory\n$/) });
  const nobody = await cli(['ls'], { url: 'http://127.0.0.1:65001' });
  expect(nobody).toMatchObject({ code: 1, stderr: expect.stringMatching(/^paddock: no connection to .*\n$/) });
});

describe('on a terminal', () => {
  const inTerminal = (options: string, command: string, url = served.url, PAGER = 'cat'): Tmux => {
    const script = `${CLI} run --from ${repo} ${options} -- ${command}; echo code=$?; sleep 1000`;
    return Tmux.start(script, { PADDOCK_URL: url, HOME: '/nonexistent', PAGER });
  };
  const CHANGE = `sh -c 'echo b > a.txt; mkdir new; echo c > new/c.txt; exit 3'`;

  it('asks for each file, and applies what is taken', async () => {
    await put('a.txt', 'a\n');
    const terminal = inTerminal('', CHANGE);
    await terminal.shows('Take these 3 changes?');
    terminal.line('x');
    await terminal.shows(/: x\s+Take these 3 changes\?/);
    terminal.line('e');
    await terminal.shows(/\(1\/2\) M a.txt:/);
    terminal.line('n');
    await terminal.shows(/\(2\/2\) A new\/ \(1 file\):/);
    terminal.line('y');
    await terminal.shows('code=3');
    expect([await get('a.txt'), await get('new/c.txt')]).toEqual(['a\n', 'c\n']);
  });

  it('takes single hunks of a file, goes back and searches', async () => {
    const lines = (of: string[]) => `${of.join('\n')}\n`;
    await put('a.txt', lines(['1', '2', '3', '4', '5']));
    await put('z.txt', 'z\n');
    const terminal = inTerminal('', `sh -c 'sed -i "s/1/one/; s/5/five/" a.txt; echo y > z.txt; touch new'`);
    await terminal.shows('Take these 3 changes?');
    terminal.line('e');
    await terminal.shows(/\(1\/3\) M a.txt: \[y,n,h,b,a,\?,q,\/\]:/);
    terminal.line('?');
    await terminal.shows('h: choose among the hunks of the file');
    terminal.line('/z.t');
    await terminal.shows(/\(2\/3\) M z.txt:/);
    terminal.line('n');
    await terminal.shows(/\(3\/3\) A new:/);
    terminal.line('/a.t');
    await terminal.shows(/\(1\/3\) M a.txt: \S+: *\s*$/);
    terminal.line('h');
    await terminal.shows(/\(1\/2\) a.txt line 1 /);
    terminal.line('n');
    await terminal.shows(/\(2\/2\) a.txt line 5 /);
    terminal.line('y');
    await terminal.shows(/five\s[\s\S]*\(2\/3\) M z.txt: \S+: *\s*$/);
    terminal.line('q');
    await terminal.shows('0 paths chosen, and hunks of 1 file');
    await terminal.shows('code=0');
    expect(await get('a.txt')).toBe(lines(['1', '2', '3', '4', 'five']));
    expect((await readdir(repo)).sort()).toEqual(['a.txt', 'z.txt']);
  });

  it('takes single hunks of renamed files, also of one with the same size in a renamed directory', async () => {
    await mkdir(join(repo, 'd'));
    await Promise.all([put('a.txt', '1\n2\n3\n'), put('d/x', 'one\n'), put('d/y', 'y\n')]);
    const script = `mv a.txt b.txt; printf 'one\\n2\\nthree\\n' > b.txt; mv d e; echo two > e/x`;
    await put('script', script);
    const terminal = inTerminal('', 'sh script');
    await terminal.shows('Take these 8 changes?');
    terminal.line('e');
    await terminal.shows(
      /--- a\/a.txt\s+\+\+\+ b\/b.txt\s[\s\S]*-3\s+\+three[\s\S]*\(1\/3\) R a.txt → b.txt: \[y,n,h,b,a,\?,q,\/\]:/,
    );
    terminal.type(...['h', 'n', 'y'].flatMap((answer) => [answer, 'Enter']));
    await terminal.shows(/\(2\/3\) R d\/ → e\/ \(1 file\): /);
    terminal.line('y');
    await terminal.shows(/-one\s+\+two\s[\s\S]*\(3\/3\) R d\/x → e\/x: \S+: *\s*$/);
    terminal.line('y');
    await terminal.shows('code=0');
    expect(await Promise.all(['b.txt', 'e/x', 'e/y'].map(get))).toEqual(['1\n2\nthree\n', 'two\n', 'y\n']);
    expect((await readdir(repo)).sort()).toEqual(['b.txt', 'e', 'script']);
  });

  it('leaves out what git ignores here, and takes what is in an opened directory one by one', async () => {
    await put('.gitignore', 'out\n');
    await mkdir(join(repo, '.git'));
    await mkdir(join(repo, 'sub/out'), { recursive: true });
    const work = 'mkdir -p out d/e sub/out/n; echo o > out/o; echo x > d/x; echo y > d/e/y';
    const terminal = inTerminal('', `sh -c '${work}'`);
    await terminal.shows('left out: 3 paths that git ignores; --ignored shows them');
    await terminal.shows('Take these 4 changes?');
    terminal.line('e');
    await terminal.shows(/\(1\/1\) A d\/ \(2 files\): /);
    terminal.line('o');
    await terminal.shows(/\(1\/2\) A d\/x: /);
    terminal.line('y');
    await terminal.shows(/\(2\/2\) A d\/e\/ \(1 file\): /);
    terminal.line('n');
    await terminal.shows('code=0');
    expect(await readdir(join(repo, 'd'))).toEqual(['x']);
    expect((await readdir(repo)).sort()).toEqual(['.git', '.gitignore', 'd', 'sub']);
  });

  it('takes nothing of an opened directory, or after q, that is not answered then', async () => {
    await put('z.txt', 'z\n');
    await put('gone', '');
    const terminal = inTerminal('', `sh -c 'mkdir d; touch d/x d/y e; echo y > z.txt; rm gone'`);
    await terminal.shows('Take these 6 changes?');
    const answers = ['e', 'y', 'y', 'y', 'b', 'o', 'n', 'n', 'n'];
    terminal.type(...answers.flatMap((answer) => [answer, 'Enter']));
    await terminal.shows('2 paths chosen');
    await terminal.shows('code=0');
    expect((await readdir(repo)).sort()).toEqual(['e', 'gone', 'z.txt']);
    for (const each of ['e', 'gone']) await rm(join(repo, each));
    await put('z.txt', 'z\n');
    const left = inTerminal('', `sh -c 'touch e f; echo y > z.txt'`);
    await left.shows('Take these 3 changes?');
    left.type(...['e', 'y', 'y', 'b', 'q'].flatMap((answer) => [answer, 'Enter']));
    await left.shows('1 path chosen');
    await left.shows('code=0');
    expect((await readdir(repo)).sort()).toEqual(['z.txt']);
  });

  it('shows a long list in the pager of the user, which cannot run programs', async () => {
    const pager = 'head -n 3; echo secure=$LESSSECURE';
    const terminal = inTerminal('', `sh -c 'seq 100 | xargs touch'`, served.url, pager);
    await terminal.shows(/A 1\s+A 10\s+A 100\s+secure=1\s+Take these 100 changes\?/);
    terminal.line('n');
    await terminal.shows('code=0');
    const failing = inTerminal('', `sh -c 'seq 100 | xargs touch'`, served.url, 'exit 1');
    await failing.shows(/A 99\s+Take these 100 changes\?/);
    failing.line('n');
    await failing.shows('code=0');
  });

  it('takes answers that were typed ahead, and ^C among them', async () => {
    await put('a.txt', 'a\n');
    const asked = inTerminal('', CHANGE);
    await asked.shows('Take these 3 changes?');
    asked.type(...['x', 'e', 'n'].flatMap((answer) => [answer, 'Enter']), 'C-c');
    await asked.shows('code=130');
    expect(await readdir(repo)).toEqual(['a.txt']);
    const taking = inTerminal('', CHANGE);
    await taking.shows('Take these 3 changes?');
    taking.type(...['x', 'e', 'n', 'y'].flatMap((answer) => [answer, 'Enter']));
    await taking.shows('code=3');
    expect([await get('a.txt'), await get('new/c.txt')]).toEqual(['a\n', 'c\n']);
  });

  it('applies all, or with ^C at the question nothing', async () => {
    await put('a.txt', 'a\n');
    const asked = inTerminal('', CHANGE);
    await asked.shows('Take these 3 changes?');
    asked.type('C-c');
    await asked.shows('code=130');
    expect(await readdir(repo)).toEqual(['a.txt']);
    const taking = inTerminal('-it', CHANGE);
    await taking.shows('Take these 3 changes?');
    taking.line('a');
    await taking.shows('code=3');
    expect([await get('a.txt'), await get('new/c.txt')]).toEqual(['b\n', 'c\n']);
  });

  it('commits single hunks and files to the codebase with commit -p', async () => {
    const client = served.paddock();
    const made = await client.sandboxes.create({ preset: 'full-access' });
    await made.files.write('a', '1\n2\n3\n');
    await made.files.write('b', 'b\n');
    await made.commit();
    await made.run("sed -i 's/1/one/; s/3/three/' a; echo c >> b; mkdir d; touch d/x d/y");
    const env = { PADDOCK_URL: served.url, HOME: '/nonexistent', PAGER: 'cat' };
    const script = `${CLI} commit ${made.id} -p; echo code=$?; sleep 1000`;
    await Tmux.start(script, env).shows(/the sandbox runs, and may change what you look at[\s\S]*code=1/);
    await made.stop();
    const terminal = Tmux.start(script, env);
    await terminal.shows('Take these 5 changes?');
    terminal.type(...['e', 'h', 'y', 'n', 'n', 'o', 'y', 'n'].flatMap((answer) => [answer, 'Enter']));
    await terminal.shows(/2 changes committed\s+code=0/);
    expect((await made.changes({ diff: true })).map(({ path, diff }) => [path, diff?.hunks.length])).toEqual([
      ['a', 1],
      ['b', 1],
      ['d/y', undefined],
    ]);
    await made.destroy();
    await client.codebases.delete(made.info.codebaseId);
  });

  it('says that the sandbox is kept if the server cannot tell whether it has changes', async () => {
    const network = await BrokenNetwork.start(served.url);
    const terminal = inTerminal('', CHANGE, network.url);
    await terminal.shows('Take these 3 changes?');
    network.close();
    terminal.line('e');
    const { id } = await onlySandbox();
    await terminal.shows(`the sandbox ${id} is kept`);
    await terminal.shows('code=125');
    expect((await cli(['rm', id], { url: served.url })).code).toBe(0);
  });

  it('sends ^C to the command first, and then asks', async () => {
    const terminal = inTerminal(
      '',
      `sh -c 'trap "echo left > a.txt; exit 7" INT; echo started; while :; do sleep 0.1; done'`,
    );
    await terminal.shows('started');
    terminal.type('C-c');
    await terminal.shows('Take this change?');
    terminal.type('C-d');
    await terminal.shows('code=7');
    expect(await readdir(repo)).toEqual([]);
  });
});
