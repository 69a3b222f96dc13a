import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { fromText, ROOT_PATH } from '../../../lib/byte-string.ts';
import type { WorkspaceSpec } from '../../../lib/workspaces/workspaces.ts';
import { bundleEntry } from '../fuse/bundle-entry.ts';
import { type Mounted, mounted } from '../fuse/mounted.ts';
import { ALL_WRITE, rule, UID } from './sandbox.ts';

const execute = promisify(execFile);

let bundle: Awaited<ReturnType<typeof bundleEntry>>;
let mount: Mounted;
let home: string;
let workspace: string;
let attached: WorkspaceSpec;

beforeAll(async () => {
  bundle = await bundleEntry('../workspaces/worker-entry.ts');
});
afterAll(() => bundle.remove());

beforeEach(async () => {
  mount = await mounted(bundle.entry);
  await chmod(dirname(mount.mountPoint), 0o711);
  home = join(tmpdir(), `workspace-tools-${process.pid}-${Date.now()}`);
  attached = {
    ...{ id: 'sb_1', codebaseId: 'cb_1', uid: UID, rules: ALL_WRITE, maxBytes: 0, maxFiles: 0 },
    base: join(home, 'base'),
    delta: join(home, 'delta'),
  };
  await put('README.md', 'read me\n');
  await put('src/main.js', 'console.log(require("./lib.js"));\n');
  await put('src/lib.js', 'module.exports = "from the base";\n');
  workspace = await mount.workspaces.attach(attached);
});
afterEach(async () => {
  await mount.remove();
  await rm(home, { recursive: true, force: true });
  expect(mount.logged).toEqual([]);
});

async function put(path: string, content: string): Promise<void> {
  const at = join(attached.base, path);
  await mkdir(dirname(at), { recursive: true });
  await writeFile(join(home, 'upload'), content);
  await rename(join(home, 'upload'), at);
}

async function upload(path: string, content: string): Promise<void> {
  await mount.workspaces.baseChanging('cb_1', [fromText(path)]);
  await put(path, content);
  await mount.workspaces.baseChanged('cb_1', [fromText(path)]);
}

/** Runs a script in the workspace as the sandbox's uid. Returns stdout and stderr, then its exit code if not 0. */
async function run(script: string, uid = UID): Promise<string> {
  const env = { PATH: process.env.PATH, HOME: '/nonexistent', GIT_CONFIG_GLOBAL: '/dev/null', LC_ALL: 'C' };
  const inside = `exec 2>&1; cd "$0" && { ${script}\n}`;
  const options = { cwd: '/', uid, gid: uid, env, timeout: 100_000, maxBuffer: 1 << 24 };
  return execute('/bin/sh', ['-c', inside, workspace], options).then(
    ({ stdout }) => stdout,
    (error: { code: number; stdout: string }) => `${error.stdout}[${error.code}]`,
  );
}

/** A shell in the workspace that runs one line at a time and returns its output, in order through one pipe. */
function shell(): { ask(line: string): Promise<string>; end(): Promise<void> } {
  const child = spawn('/bin/sh', ['-c', `exec 2>&1; cd "$0" && exec sh`, workspace], { cwd: '/', uid: UID, gid: UID });
  let output = '';
  child.stdout.on('data', (data) => (output += data));
  return {
    async ask(line) {
      output = '';
      child.stdin.write(`${line}\nprintf '\\0'\n`);
      while (!output.includes('\0')) await once(child.stdout, 'data', { signal: AbortSignal.timeout(20_000) });
      return output.replace('\0', '');
    },
    async end() {
      child.stdin.end();
      await once(child, 'close');
    },
  };
}

describe('a program in a workspace', () => {
  it('can change its part of a large file that is copied up meanwhile, concurrently with others', async () => {
    await put('big', 'b'.repeat(20 << 20));
    const parts = Array.from({ length: 8 }, (_, i) => i);
    const write = `printf $0 | dd of=big bs=1 seek=$(($0 * 1000000)) conv=notrunc status=none & `;
    await run(`${parts.map((part) => write.replaceAll('$0', String(part))).join('')} wait`);
    const read = parts.map((part) => `tail -c +$((${part} * 1000000 + 1)) big | head -c 2; echo`).join('; ');
    expect(await run(`wc -c <big; ${read}`)).toBe(`${20 << 20}\n${parts.map((part) => `${part}b`).join('\n')}\n`);
  });

  it('git runs a repository from the first commit to garbage collection', async () => {
    const output = await run(`
      set -e
      git init -q -b main . && git config user.email a@b && git config user.name n
      git add -A && git commit -qm one
      git mv src lib && echo more >> README.md && git commit -qam two
      git checkout -q -b other HEAD~1 && git checkout -q main && git merge -q other
      git gc -q && git fsck --strict && git status --porcelain && git log --format=%s`);
    expect(output).toBe('two\none\n');
  });

  it('git reads a repository that it may not write', async () => {
    await run(
      'git init -q . && git config user.email a@b && git config user.name n && git add -A && git commit -qm one',
    );
    await mount.workspaces.setRules('sb_1', [rule('/**', 'READ')]);
    expect(await run('git log --format=%s && git status --porcelain')).toBe('one\n');
    expect(await run('git commit --allow-empty -qm two')).toMatch(/\[(1|128)\]$/);
  });

  it('tar, diff and rm -rf work on a tree of a thousand files', async () => {
    const output = await run(`
      set -e
      mkdir tree && for d in 1 2 3 4 5 6 7 8 9 10; do
        mkdir tree/$d && for f in $(seq 100); do echo $d-$f > tree/$d/$f; done
      done
      ln -s 1 tree/link && ln tree/1/1 tree/hard && chmod 750 tree/2
      tar cf t.tar tree && mkdir copy && tar xpf t.tar -C copy
      diff -r tree copy/tree && stat -c '%a %h' copy/tree/2 copy/tree/hard
      rm -rf tree copy t.tar && ls`);
    expect(output).toBe('750 2\n644 2\nREADME.md\nsrc\n');
  });

  it('node requires modules of base and delta', async () => {
    expect(await run(`'${process.execPath}' src/main.js`)).toBe('from the base\n');
    await run(`echo 'module.exports = "from the delta";' > src/new && mv src/new src/lib.js`);
    expect(await run(`'${process.execPath}' src/main.js`)).toBe('from the delta\n');
  });

  it('can create a file exclusively once, and concurrent appends are all kept', async () => {
    const output = await run(`
      for n in $(seq 16); do (set -C; : > won && echo $n) 2>/dev/null & done; wait
      for n in $(seq 8); do (for m in $(seq 50); do echo line >> log; done) & done; wait; wc -l < log`);
    const lines = output.trim().split('\n');
    expect(lines).toHaveLength(2);
    expect(lines[1]!.trim()).toBe('400');
  });

  it('can use files larger than 4 GiB, with holes', async () => {
    const output = await run(`
      printf end | dd of=big bs=1 seek=5G conv=notrunc status=none && stat -c %s big && tail -c 3 big
      truncate -s 100 big && stat -c %s big`);
    expect(output).toBe('5368709123\nend100\n');
  });

  it('sees times with nanosecond resolution', async () => {
    expect(await run(`touch -d '2001-02-03 04:05:06.123456789 UTC' a && cp -p a b && stat -c %.9Y a b`)).toBe(
      '981173106.123456789\n981173106.123456789\n',
    );
  });
});

describe('the kernel’s cache', () => {
  it('is invalidated by new rules: contents, attributes, names and open files', async () => {
    const sh = shell();
    expect(await sh.ask('exec 3< README.md; cat README.md src/lib.js; ls')).toContain('read me');
    await mount.workspaces.setRules('sb_1', [rule('/src/**', 'VIEW')]);
    expect(await sh.ask('cat <&3')).toMatch(/^cat: .*(No such file|Permission denied)/);
    expect(await sh.ask('cat README.md')).toMatch(/No such file/);
    expect(await sh.ask('cat src/lib.js')).toMatch(/Permission denied/);
    expect(await sh.ask('ls')).toBe('src\n');
    await mount.workspaces.setRules('sb_1', ALL_WRITE);
    expect(await sh.ask('cat README.md; ls; echo x >> src/lib.js && echo done')).toBe(
      'read me\nREADME.md\nsrc\ndone\n',
    );
    await sh.end();
  });

  it('is invalidated for files that were only stat’ed too, and for every use of names', async () => {
    await put('d/gone', 'gone\n');
    await put('d/seen', 'seen\n');
    await put('d/kept', 'kept\n');
    const sh = shell();
    expect(await sh.ask('stat -c %s d/* && ln -s gone d/link && readlink d/link && exec 4< d/gone')).toContain('5\n5');
    await mount.workspaces.setRules('sb_1', [
      rule('/**', 'WRITE'),
      rule('/d/gone', 'NONE', 1),
      rule('/d/link', 'NONE', 1),
      rule('/d/seen', 'VIEW', 1),
    ]);
    for (const use of [
      'stat d/gone',
      'cat d/gone',
      '(cd d && cat gone)',
      'rm d/gone',
      'mv d/gone d/x',
      'readlink -v d/link',
    ]) {
      expect(await sh.ask(use), use).toMatch(/No such file/);
    }
    for (const use of ['echo x > d/gone', 'mkdir d/gone', 'ln -s x d/link', 'mv d/kept d/gone', 'cat d/seen']) {
      expect(await sh.ask(use), use).toMatch(/Permission denied|cannot create/);
    }
    expect(await sh.ask('cat <&4')).toMatch(/No such file|Stale/);
    expect(await sh.ask('ls d; stat -c "%a %U" d/seen')).toBe('kept\nseen\n0 nobody\n');
    await mount.workspaces.setRules('sb_1', ALL_WRITE);
    expect(await sh.ask('cat d/*; ls d; echo x >> d/gone && cat d/gone')).toBe(
      'gone\nkept\ngone\nseen\ngone\nkept\nlink\nseen\ngone\nx\n',
    );
    await sh.end();
  });

  it('matches the rules after each of many changes, for every file of many directories', async () => {
    for (let n = 0; n < 400; n++) await put(`d${n % 20}/f${n}`, `${n}\n`);
    const sh = shell();
    await sh.ask('find . -printf %s; cat d1/*');
    const LEVELS = ['READ', 'VIEW', 'NONE', 'WRITE', 'NONE', 'READ', 'WRITE'] as const;
    const SEEN = { READ: '400 0 400', VIEW: '400 0 0', NONE: '0 0 0', WRITE: '400 400 400' };
    const look =
      'a=0 w=0 r=0; for n in $(seq 0 399); do f=d$((n % 20))/f$n; [ -e $f ] && a=$((a+1)); [ -w $f ] && w=$((w+1)); [ -r $f ] && r=$((r+1)); done; echo $a $w $r';
    for (const level of LEVELS) {
      const rules = [rule('/**', 'WRITE'), rule('/d*/f*', level, 1), rule('/**/*.key', 'NONE', 2)];
      await mount.workspaces.setRules('sb_1', rules);
      expect(await sh.ask(look), level).toBe(`${SEEN[level]}\n`);
    }
    await sh.end();
  }, 120_000);

  it('keeps a working directory over a change of rules', async () => {
    const sh = shell();
    await sh.ask('cd src');
    await mount.workspaces.setRules('sb_1', [rule('/src/**', 'READ')]);
    expect(await sh.ask('/bin/pwd; ls')).toBe(`${workspace}/src\nlib.js\nmain.js\n`);
    await sh.end();
  });

  it('is invalidated by changes of the base: absent names, listings, contents; open files do not change', async () => {
    const sh = shell();
    expect(await sh.ask('exec 3< README.md; cat new/deep/file; ls; cat README.md')).toMatch(
      /No such file[\s\S]*read me/,
    );
    await upload('new/deep/file', 'uploaded\n');
    await upload('README.md', 'another text, longer\n');
    expect(await sh.ask('cat new/deep/file; ls')).toBe('uploaded\nREADME.md\nnew\nsrc\n');
    expect(await sh.ask('cat README.md; cat <&3')).toBe('another text, longer\nread me\n');
    await sh.end();
  });

  it('is replaced when a name becomes another file', async () => {
    expect(
      await run(
        `ln -s README.md l && cat l && ln -sfn src/lib.js l && cat l && mv src s && ls s && mkdir src && ls src`,
      ),
    ).toBe('read me\nmodule.exports = "from the base";\nlib.js\nmain.js\n');
  });
});

describe('another user of the host', () => {
  it('cannot access a workspace, whatever is cached, and neither can root', async () => {
    await run('cat README.md src/lib.js; chmod 777 . src; chmod 666 README.md');
    expect(await run('cat README.md', UID + 1)).toMatch(/can't cd/);
    const asRoot = [
      '-c',
      `ls ${workspace}; cat ${workspace}/README.md; echo x > ${workspace}/x; stat -c %F ${workspace}`,
    ];
    const { stdout, stderr } = await execute('/bin/sh', asRoot, { cwd: '/' });
    expect(stdout).toBe('directory\n');
    expect(stderr.match(/Permission denied/g)).toHaveLength(3);
  });
});

describe('a detach and attach', () => {
  it('keeps everything, including inode numbers', async () => {
    const list = `find . -printf '%P %i %y %m %s %n %T@ %C@\\n' | sort`;
    await run(
      'echo x > new && mkdir d && mv src d/ && ln new d/hard && ln -s new sym && chmod 600 README.md && mkfifo p',
    );
    const before = await run(list);
    await mount.workspaces.detach('sb_1');
    expect(await run('ls')).toMatch(/cd|cannot|can't/i);
    await mount.workspaces.attach(attached);
    expect(await run(list)).toBe(before);
  });
});

describe('a full quota', () => {
  it('is an error only for the program that exceeds it', async () => {
    await mount.workspaces.detach('sb_1');
    await mount.workspaces.attach({ ...attached, maxBytes: 1 << 20, maxFiles: 50 });
    expect(await run('head -c 2000000 /dev/zero > big; rm big; echo small > small && cat small')).toMatch(
      /quota exceeded\nsmall\n$/i,
    );
    expect(await run('for n in $(seq 60); do touch f$n || break; done; rm f*; touch after && ls')).toMatch(
      /quota exceeded\nREADME.md\nafter\nsmall\nsrc\n$/i,
    );
    expect(await run('df --output=size,itotal -B 4096 . | tail -1')).toMatch(/256\s+50/);
  });
});

describe('a long operation', () => {
  it('of one sandbox completes while it and another one are used', async () => {
    const count = 5000;
    const made = `mkdir d && seq 1 ${count} | sed 's,^,d/f,' | xargs touch && echo made`;
    expect(await run(made)).toBe('made\n');
    await mount.workspaces.setRules('sb_1', [rule('/**', 'WRITE'), rule('**/secret', 'NONE', 1)]);
    const other = { ...attached, id: 'sb_2', uid: UID + 1, delta: join(home, 'other') };
    const otherPlace = await mount.workspaces.attach(other);
    const aside = execute(
      '/bin/sh',
      ['-c', 'cd "$0" && for n in $(seq 300); do echo $n >"g$n"; done; ls | wc -l', otherPlace],
      {
        uid: UID + 1,
        gid: UID + 1,
      },
    );
    const listed = mount.workspaces.changes('sb_1', ROOT_PATH, 100_000);
    const moved = run('mv d e; ls e | wc -l; echo x >e/f1; mv e f; cat f/f1');
    expect(await moved).toBe(`${count}\nx\n`);
    expect((await listed).changes.length).toBe(count + 1);
    expect((await aside).stdout).toBe('302\n');
    expect((await mount.workspaces.changes('sb_1', ROOT_PATH, 100_000)).changes.map(({ path }) => path)).toContain(
      'f/f1',
    );
    await mount.workspaces.detach('sb_2');
  });
});
