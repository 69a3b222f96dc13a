import { expect } from 'vitest';
import { memberHead, tarEnd } from '../../lib/archive/tar.ts';
import { fromText } from '../../lib/byte-string.ts';
import type { Codebase, Sandbox } from '../../lib/contract/messages.ts';
import { RENAMING_PROGRAM } from './renaming-program.ts';
import { filePath } from './rest-client.ts';
import { hide, read, write } from './rules.ts';
import { expectRefusal, type Scene } from './scene.ts';
import { type Case, contract } from './suite.ts';

const TREE = { a: 'one\n', b: 'b\n', 'd/x': 'x\n', 'd/sub/y': 'y\n', 'run.sh': '#!/bin/sh\n' };
const LIST =
  'find . -mindepth 1 \\( -type d -printf "%p/ %m\\n" \\) -o \\( -type l -printf "%p -> %l\\n" \\) -o \\( -printf "%p %m " -exec sh -c \'cat "$1" | tr "\\n" " "; echo\' - {} \\; \\) | sort';

const commit = (scene: Scene, { id }: Sandbox, more: object = {}) =>
  scene.client.call('Commit', { sandbox_id: id, ...more });
const changed = async (scene: Scene, { id }: Sandbox) =>
  (await scene.client.call('ListChanges', { sandbox_id: id })).changes.map(({ path }) => path);

/** The codebase as a sandbox sees it that has never seen anything of it. */
async function fresh(scene: Scene, codebase: Codebase): Promise<string> {
  const sandbox = await scene.sandbox(codebase);
  const seen = await scene.output(sandbox, LIST);
  await scene.client.call('DestroySandbox', { sandbox_id: sandbox.id });
  return seen;
}

/** A Python program that makes, lists and removes directories in `x` until `/tmp/go` exists. */
const LISTING_PROGRAM = `
import os
open('/tmp/ready', 'w').close()
while not os.path.exists('/tmp/go'):
    os.mkdir('x/new')
    os.listdir('x')
    os.rmdir('x/new')
`;

const WORK = [
  'echo two >> a; rm b; mv d e; echo z > e/sub/new; chmod 755 run.sh; ln -s a link; mkdir -p n/m empty; echo f > n/m/f',
  'rm -rf d; mkdir d; echo other > d/x',
  'rm a && mkdir a && echo in > a/f; rm -rf d && echo file > d',
  'mkdir t && mv d t/d && mv t/d/sub/y y; ln y hard; : > nothing',
];

const cases: Case[] = [
  ...WORK.map(
    (work, index): Case => ({
      name: `after a commit the codebase and other sandboxes have the files of the sandbox, and no change remains: ${index + 1}`,
      async run(scene) {
        const codebase = await scene.codebase(TREE);
        const sandbox = await scene.sandbox(codebase);
        const other = await scene.sandbox(codebase);
        await scene.output(other, LIST);
        await scene.output(sandbox, work);
        const before = await scene.output(sandbox, LIST);
        const { committed, count, conflicts } = await commit(scene, sandbox);
        expect({ committed, conflicts }).toEqual({ committed: true, conflicts: [] });
        expect(count).toBeGreaterThan(0);
        expect(await scene.output(other, LIST)).toBe(before);
        expect(await scene.output(sandbox, LIST)).toBe(before);
        expect(await changed(scene, sandbox)).toEqual([]);
        expect(await fresh(scene, codebase)).toBe(before);
        const { file_count } = await scene.client.call('GetCodebase', { codebase_id: codebase.id });
        const files = await scene.output(sandbox, 'find . -type f -o -type l | wc -l');
        expect(file_count).toBe(Number(files));
        await scene.output(sandbox, 'echo on > on');
        await scene.client.call('StopSandbox', { sandbox_id: sandbox.id });
        expect(await changed(scene, sandbox)).toEqual(['on']);
        await scene.client.call('StartSandbox', { sandbox_id: sandbox.id });
        await scene.output(sandbox, 'rm on');
        expect(await scene.output(sandbox, LIST)).toBe(before);
      },
    }),
  ),
  {
    name: 'open descriptors stay valid, and writes through them are new changes',
    async run(scene) {
      const codebase = await scene.codebase(TREE);
      const sandbox = await scene.sandbox(codebase);
      const program = [
        'import os, time',
        "f = os.open('a', os.O_RDWR)",
        "n = os.open('new', os.O_RDWR | os.O_CREAT)",
        "os.pwrite(f, b'ONE', 0)",
        "os.pwrite(n, b'new', 0)",
        "open('/tmp/ready', 'w').close()",
        "while not os.path.exists('/tmp/go'): time.sleep(0.01)",
        'print(os.pread(f, 9, 0), os.pread(n, 9, 0))',
        "os.pwrite(f, b'T', 0)",
        "os.pwrite(n, b'N', 0)",
      ].join('\n');
      const said = await scene.whileRunning(sandbox, program, async () => {
        await commit(scene, sandbox);
        expect(await changed(scene, sandbox)).toEqual([]);
      });
      expect(said).toBe("b'ONE\\n' b'new'\n");
      expect(await changed(scene, sandbox)).toEqual(['a', 'new']);
      expect(await scene.content(codebase, 'a')).toBe('ONE\n');
      expect(await scene.output(sandbox, 'cat a new')).toBe('TNE\nNew');
      await commit(scene, sandbox);
      expect(await scene.content(codebase, 'new')).toBe('New');
    },
  },
  {
    name: 'the second of two sandboxes that changed the same file is refused until it chooses a version',
    async run(scene) {
      const codebase = await scene.codebase(TREE);
      const [first, second] = [await scene.sandbox(codebase), await scene.sandbox(codebase)];
      await scene.output(first, 'echo first > a; echo first > new; rm b');
      await scene.output(second, 'echo second > a; echo second > new; echo second > b; echo mine > mine');
      await commit(scene, first);
      const refused = await expectRefusal(commit(scene, second), 'ABORTED', /another version.*"a"/);
      expect(refused.details).toEqual([{ conflicts: ['a', 'b', 'new'] }]);
      expect(await fresh(scene, codebase)).not.toContain('mine');
      const dry = await commit(scene, second, { dry_run: true });
      expect(dry).toMatchObject({ committed: false, count: 4, conflicts: ['a', 'b', 'new'] });
      expect(await changed(scene, second)).toEqual(['a', 'b', 'mine', 'new']);
      await commit(scene, second, { on_conflict: 'theirs', paths: ['a', 'mine'] });
      expect(await scene.output(second, 'cat a mine new')).toBe('first\nmine\nsecond\n');
      await commit(scene, second, { on_conflict: 'ours' });
      expect(await scene.output(first, 'cat a b new')).toBe('first\nsecond\nsecond\n');
      expect(await changed(scene, second)).toEqual([]);
    },
  },
  {
    name: 'a file uploaded after the sandbox changed it is a conflict, unless the contents are equal',
    async run(scene) {
      const codebase = await scene.codebase(TREE);
      const sandbox = await scene.sandbox(codebase);
      await scene.output(sandbox, 'echo changed > a; echo same > b; rm d/x');
      await scene.client.upload(codebase.id, 'a', 'uploaded\n');
      await scene.client.upload(codebase.id, 'b', 'same\n');
      await scene.client.upload(codebase.id, 'd/x', 'uploaded\n');
      const refused = await expectRefusal(commit(scene, sandbox), 'ABORTED');
      expect(refused.details).toEqual([{ conflicts: ['a', 'd/x'] }]);
      await expectRefusal(commit(scene, sandbox, { on_conflict: 'mine' }), 'INVALID_ARGUMENT', /^on_conflict/);
      await commit(scene, sandbox, { on_conflict: 'theirs' });
      expect(await scene.output(sandbox, 'cat a b d/x')).toBe('uploaded\nsame\nuploaded\n');
    },
  },
  {
    name: 'two sandboxes that created the same directory commit their files in it without a conflict',
    async run(scene) {
      const codebase = await scene.codebase(TREE);
      const [first, second] = [await scene.sandbox(codebase), await scene.sandbox(codebase)];
      await scene.output(first, 'mkdir -p new/sub; echo first > new/sub/first; echo 1 > new/same');
      await scene.output(second, 'mkdir -p new/sub; echo second > new/sub/second; echo 2 > new/same');
      await commit(scene, first);
      expect(await changed(scene, second)).toEqual(['new/same', 'new/sub/second']);
      const refused = await expectRefusal(commit(scene, second), 'ABORTED');
      expect(refused.details).toEqual([{ conflicts: ['new/same'] }]);
      await commit(scene, second, { paths: ['new/sub'] });
      await scene.client.call('Discard', { sandbox_id: second.id, paths: ['new/same'] });
      expect(await changed(scene, second)).toEqual([]);
      for (const each of [first, second]) {
        expect(await scene.output(each, 'cd new; cat same sub/first sub/second')).toBe('1\nfirst\nsecond\n');
      }
    },
  },
  {
    name: 'a file uploaded into a directory that the sandbox removed is a conflict, and theirs restores the directory',
    async run(scene) {
      const codebase = await scene.codebase(TREE);
      const sandbox = await scene.sandbox(codebase);
      await scene.output(sandbox, 'rm -rf d; echo mine > mine');
      await scene.client.upload(codebase.id, 'd/later', 'later');
      const refused = await expectRefusal(commit(scene, sandbox), 'ABORTED');
      expect(refused.details).toEqual([{ conflicts: ['d/later'] }]);
      await commit(scene, sandbox, { on_conflict: 'theirs' });
      expect(await scene.output(sandbox, 'find d -type f; cat mine')).toBe('d/later\nmine\n');
      expect(await changed(scene, sandbox)).toEqual([]);
      expect(await scene.content(codebase, 'mine')).toBe('mine\n');
    },
  },
  {
    name: 'theirs in a conflict between a file and a directory keeps all files of the codebase',
    async run(scene) {
      const codebase = await scene.codebase(TREE);
      const sandbox = await scene.sandbox(codebase);
      await scene.output(sandbox, 'rm -r d; ln -s a d; mkdir s; echo in > s/in; echo mine > mine');
      await scene.client.upload(codebase.id, 'd/sub/y', 'uploaded\n');
      await scene.client.upload(codebase.id, 's', 'a file\n');
      await expectRefusal(commit(scene, sandbox, { paths: ['s/in'] }), 'FAILED_PRECONDITION', /choose "s", too/);
      const { changes, conflicts } = await commit(scene, sandbox, { on_conflict: 'theirs' });
      expect(changes.map(({ path }) => path)).toEqual(['mine']);
      expect(conflicts).toEqual(['d/sub/y', 's']);
      expect(await changed(scene, sandbox)).toEqual([]);
      expect(await scene.output(sandbox, 'cat d/x d/sub/y s mine')).toBe('x\nuploaded\na file\nmine\n');
      await scene.client.upload(codebase.id, 'later', 'later\n');
    },
  },
  {
    name: 'theirs for the new path of a renamed file restores the file at its old path',
    async run(scene) {
      const codebase = await scene.codebase(TREE);
      const sandbox = await scene.sandbox(codebase);
      await scene.output(sandbox, 'mv a n; mv d/x d/sub/z; echo mine > mine');
      await scene.client.upload(codebase.id, 'n', 'uploaded\n');
      const { changes, conflicts } = await commit(scene, sandbox, { on_conflict: 'theirs' });
      expect(conflicts).toEqual(['n']);
      expect(changes.map(({ path }) => path)).toEqual(['d/sub/z', 'd/x', 'mine']);
      expect(await changed(scene, sandbox)).toEqual([]);
      expect(await scene.output(sandbox, 'cat a n d/sub/z; ls d')).toBe('one\nuploaded\nx\nsub\n');
    },
  },
  {
    name: 'unusual names, names that are not UTF-8, and symlinks are committed unchanged',
    async run(scene) {
      const codebase = await scene.codebase(TREE);
      const [sandbox, other] = [await scene.sandbox(codebase), await scene.sandbox(codebase)];
      await scene.output(other, 'ls -R');
      const names =
        "mkdir 'sp ace' && echo 1 > 'sp ace/ü' && echo 2 > \"$(printf 'd/\\377')\" && ln -s /etc/passwd d/l && mkfifo p";
      await scene.output(sandbox, names);
      await commit(scene, sandbox);
      const look = "cat 'sp ace/ü' d/*; readlink d/l; ls | wc -l";
      const seen = await scene.output(other, `rm -f nothing; ${look.replace('d/*', '"$(printf \'d/\\377\')"')}`);
      expect(seen).toBe('1\n2\n/etc/passwd\n5\n');
      expect(await changed(scene, sandbox)).toEqual(['p']);
    },
  },
  {
    name: 'only the chosen paths are committed, and the others remain changes',
    async run(scene) {
      const codebase = await scene.codebase(TREE);
      const sandbox = await scene.sandbox(codebase);
      await scene.output(sandbox, 'echo A > a; mkdir n; echo 1 > n/one; echo 2 > n/two; rm d/sub/y');
      const before = await scene.output(sandbox, LIST);
      await commit(scene, sandbox, { paths: ['/a', 'n/one', 'd/'] });
      expect(await changed(scene, sandbox)).toEqual(['n/two']);
      expect(await scene.output(sandbox, LIST)).toBe(before);
      expect(await scene.content(codebase, 'n/one')).toBe('1\n');
      await commit(scene, sandbox);
      expect(await fresh(scene, codebase)).toBe(before);
    },
  },
  {
    name: 'new permission bits of one of two hard links of the codebase are no conflict at the other one',
    runtimes: ['bwrap'],
    protocols: ['rest'],
    async run(scene) {
      const codebase = await scene.codebase({});
      const file = { path: fromText('one'), mode: 0o644, mtime: { sec: 1, nsec: 0 }, size: 0 };
      const link = { ...file, path: fromText('two'), target: file.path };
      const members = [memberHead({ ...file, type: 'file' }), memberHead({ ...link, type: 'link' }), tarEnd()];
      await scene.client.write('ImportCodebaseFiles', { codebase_id: codebase.id }, Buffer.concat(members));
      const [sandbox, other] = [await scene.sandbox(codebase), await scene.sandbox(codebase)];
      await scene.output(other, 'chmod 600 two');
      await scene.output(sandbox, 'chmod 755 one');
      await commit(scene, sandbox);
      expect(await changed(scene, other)).toEqual(['two']);
      await commit(scene, other);
      expect(await fresh(scene, codebase)).toMatch(/^\.\/one 755 .*\n\.\/two 600 .*\n$/);
    },
  },
  {
    name: 'a new directory keeps its mode if only something in it is committed',
    async run(scene) {
      const codebase = await scene.codebase(TREE);
      const sandbox = await scene.sandbox(codebase);
      await scene.output(sandbox, 'mkdir -m 700 n; mkdir -m 750 n/m; ln -s x n/m/l; stat n n/m');
      const before = await scene.output(sandbox, LIST);
      await commit(scene, sandbox, { paths: ['n/m/l'] });
      expect(await scene.output(sandbox, LIST)).toBe(before);
      expect(await changed(scene, sandbox)).toEqual(['n', 'n/m']);
      expect(await scene.output(sandbox, LIST)).toBe(before);
      await scene.client.call('StopSandbox', { sandbox_id: sandbox.id });
      expect(await changed(scene, sandbox)).toEqual(['n', 'n/m']);
      await scene.client.call('StartSandbox', { sandbox_id: sandbox.id });
      expect(await scene.output(sandbox, LIST)).toBe(before);
      await commit(scene, sandbox);
      expect(await changed(scene, sandbox)).toEqual([]);
      expect(await fresh(scene, codebase)).toBe(before);
    },
  },
  {
    name: 'another sandbox that changed files in a directory only sees its committed mode',
    async run(scene) {
      const codebase = await scene.codebase(TREE);
      const sandbox = await scene.sandbox(codebase);
      const others = [await scene.sandbox(codebase), await scene.sandbox(codebase)];
      const look = 'stat -c %a d d/sub';
      for (const [index, work] of ['rm d/x d/sub/y', 'echo 2 > d/x; echo 2 > d/sub/y'].entries())
        expect(await scene.output(others[index]!, `${work}; ls -la d d/sub > /dev/null; ${look}`)).toBe('755\n755\n');
      await scene.output(sandbox, 'chmod 700 d; chmod 711 d/sub');
      await commit(scene, sandbox);
      for (const other of others) {
        expect(await scene.output(other, look)).toBe('700\n711\n');
        expect(await changed(scene, other)).toEqual(['d/sub/y', 'd/x']);
      }
    },
  },
  {
    name: 'a commit of a part of a renamed directory is refused',
    async run(scene) {
      const codebase = await scene.codebase(TREE);
      const sandbox = await scene.sandbox(codebase);
      await scene.output(sandbox, 'mv d e');
      const before = await scene.output(sandbox, LIST);
      await expectRefusal(commit(scene, sandbox, { paths: ['d'] }), 'FAILED_PRECONDITION', /"e"; choose all of it/);
      await expectRefusal(commit(scene, sandbox, { paths: ['e/x'] }), 'FAILED_PRECONDITION', /"e"/);
      await expectRefusal(commit(scene, sandbox, { paths: ['e'] }), 'FAILED_PRECONDITION', /"d"; choose all of it/);
      await commit(scene, sandbox, { paths: ['d', 'e'] });
      expect(await scene.output(sandbox, LIST)).toBe(before);
      expect(await fresh(scene, codebase)).toBe(before);
    },
  },
  {
    name: 'changes that the current rules forbid are not committed',
    async run(scene) {
      const codebase = await scene.codebase(TREE);
      const sandbox = await scene.sandbox(codebase);
      await scene.output(sandbox, 'echo A > a; echo B > b');
      const permissions = [write('**'), read('a', 1)];
      await scene.client.call('UpdatePermissions', { sandbox_id: sandbox.id, permissions });
      await expectRefusal(commit(scene, sandbox), 'PERMISSION_DENIED', /"a"/);
      expect(await scene.content(codebase, 'b')).toBe('b\n');
      await commit(scene, sandbox, { paths: ['b'] });
      expect(await scene.content(codebase, 'b')).toBe('B\n');
    },
  },
  {
    name: 'another sandbox keeps its rules, its own changes and the old contents of open files',
    async run(scene) {
      const codebase = await scene.codebase(TREE);
      const sandbox = await scene.sandbox(codebase);
      const other = await scene.sandbox(codebase, [write('**'), hide('new', 1)]);
      await scene.output(other, 'echo own > b');
      const held = scene.output(
        other,
        'exec 3<a; touch /tmp/open; while ! test -e /tmp/go; do sleep 0.02; done; cat <&3',
      );
      await scene.output(other, 'while ! test -e /tmp/open; do sleep 0.02; done');
      await scene.output(sandbox, 'echo A > a; echo B > b; echo n > new');
      await commit(scene, sandbox);
      expect(await scene.output(other, 'touch /tmp/go; cat a b; ls')).toBe('A\nown\na\nb\nd\nrun.sh\n');
      expect(await held).toBe('one\n');
    },
  },
  {
    name: 'a commit while the sandbox writes contains complete files, and nothing is lost',
    async run(scene) {
      const codebase = await scene.codebase(TREE);
      const sandbox = await scene.sandbox(codebase);
      const writing = scene.output(
        sandbox,
        'for i in $(seq 150); do echo $i > f$((i % 7)).new && mv f$((i % 7)).new f$((i % 7)); done; touch /tmp/done; cat f?',
      );
      for (let done = false; !done; ) {
        await commit(scene, sandbox);
        done = (await scene.run(sandbox, 'test -e /tmp/done')).exit_code === 0;
      }
      const last = await writing;
      expect(await scene.output(sandbox, 'cat f?')).toBe(last);
      await commit(scene, sandbox);
      const after = await scene.sandbox(codebase);
      expect(await scene.output(after, 'cat f?')).toBe(last);
      expect(await scene.output(after, 'ls')).toBe('a\nb\nd\nf0\nf1\nf2\nf3\nf4\nf5\nf6\nrun.sh\n');
    },
  },
  {
    name: 'a commit of many files is taken while a program writes without a pause, and nothing is lost',
    async run(scene) {
      const codebase = await scene.codebase();
      const sandbox = await scene.sandbox(codebase);
      await scene.output(sandbox, 'mkdir many && cd many && for i in $(seq 1000); do echo $i > $i; done');
      const writing = scene.output(
        sandbox,
        'i=0; while ! test -e /tmp/go; do i=$((i+1)); echo $i >> log; : > /tmp/ready; done; echo $i',
      );
      await scene.output(sandbox, 'while ! test -e /tmp/ready; do sleep 0.02; done');
      for (let round = 0; round < 2; round++) {
        const { count } = await commit(scene, sandbox);
        expect(count).toBeGreaterThan(1000);
        await scene.output(sandbox, 'cd many && for i in *; do echo again >> $i; done');
      }
      await scene.output(sandbox, 'touch /tmp/go');
      const lines = Number(await writing);
      expect(await commit(scene, sandbox)).toMatchObject({ committed: true });
      const after = await scene.output(
        await scene.sandbox(codebase),
        'test "$(seq $(wc -l < log))" = "$(cat log)" && wc -l < log',
      );
      expect(Number(after)).toBe(lines);
    },
  },
  {
    name: 'a program in a directory that was renamed finds all of its files while they are committed',
    runtimes: ['bwrap'],
    // What programs see of a commit does not depend on the protocol of its call.
    protocols: ['rest'],
    async run(scene) {
      const codebase = await scene.codebase();
      const first = await scene.sandbox(codebase);
      await scene.output(first, 'mkdir -p d/sub && for i in $(seq 150); do echo $i > d/f$i; echo $i > d/sub/f$i; done');
      await commit(scene, first);
      const sandbox = await scene.sandbox(codebase);
      await scene.output(sandbox, 'mv d e && echo more > e/more && mv e/sub s');
      const program = [
        'import os',
        'seen = set()',
        "open('/tmp/ready', 'w').close()",
        "while not os.path.exists('/tmp/go'):",
        "    for d in ('e', 's'):",
        '        names = os.listdir(d)',
        "        text = ''.join(open(d + '/' + name).read() for name in names)",
        '        seen.add((d, len(names), len(text)))',
        'print(sorted(seen))',
      ].join('\n');
      const said = await scene.whileRunning(sandbox, program, async () => {
        await scene.output(sandbox, 'ls e s');
        await commit(scene, sandbox);
      });
      expect(said).toBe("[('e', 151, 497), ('s', 150, 492)]\n");
      expect(await changed(scene, sandbox)).toEqual([]);
    },
  },
  ...(
    [
      [1, 'rest'],
      [2, 'grpc'],
    ] as const
  ).map(
    ([seed, protocol]): Case => ({
      name: `a program that renames directories sees what it did beside commits, and they lose nothing: seed ${seed}`,
      runtimes: ['bwrap'],
      protocols: [protocol],
      async run(scene) {
        const codebase = await scene.codebase();
        const sandbox = await scene.sandbox(codebase);
        const running = scene.client.call('Exec', {
          sandbox_id: sandbox.id,
          command: `python3 - ${seed}`,
          stdin: RENAMING_PROGRAM,
        });
        await scene.output(sandbox, 'while ! test -e /tmp/ready; do sleep 0.02; done');
        for (let commits = 0; commits < 40; commits++) await commit(scene, sandbox);
        await scene.output(sandbox, 'touch /tmp/go');
        expect(await running).toMatchObject({ exit_code: 0, stderr: '' });
        await commit(scene, sandbox);
        expect(await changed(scene, sandbox)).toEqual([]);
        expect(await fresh(scene, codebase)).toBe(await scene.output(sandbox, LIST));
      },
    }),
  ),
  {
    name: 'theirs is taken of a sandbox whose programs wait for the end of the commit',
    async run(scene) {
      const codebase = await scene.codebase({ ...TREE, 'x/x': '' });
      const sandbox = await scene.sandbox(codebase);
      await scene.whileRunning(sandbox, LISTING_PROGRAM, async () => {
        for (let round = 0; round < 12; round++) {
          await scene.output(sandbox, `mv d${round || ''} d${round + 1}; echo mine > a; echo ${round} > x/mine`);
          await scene.client.upload(codebase.id, 'a', `theirs ${round}\n`);
          await commit(scene, sandbox, { on_conflict: 'theirs' });
          expect(await scene.output(sandbox, 'cat a')).toBe(`theirs ${round}\n`);
        }
      });
    },
  },
  {
    name: 'another sandbox, running or stopped, keeps removed files that are in its renamed directories',
    async run(scene) {
      const codebase = await scene.codebase({ ...TREE, 'big/file': Buffer.alloc(5 << 20, 'b') });
      const [first, running, stopped] = [
        await scene.sandbox(codebase),
        await scene.sandbox(codebase),
        await scene.sandbox(codebase),
      ];
      const look = 'cat e/x e/sub/y; wc -c < large/file; ls e e/sub large';
      for (const sandbox of [running, stopped]) await scene.output(sandbox, 'mv d e; mv big large');
      const before = await scene.output(running, look);
      await scene.client.call('StopSandbox', { sandbox_id: stopped.id });
      expect(await scene.rest.send('DELETE', filePath(codebase.id, 'd/sub/y'))).toMatchObject({ status: 200 });
      await scene.output(first, 'rm -r d big');
      await commit(scene, first);
      expect(await scene.output(running, look)).toBe(before);
      await scene.client.call('StartSandbox', { sandbox_id: stopped.id });
      expect(await scene.output(stopped, look)).toBe(before);
      await commit(scene, running);
      expect(await scene.output(first, look)).toBe(before);
    },
  },
];

contract('committing changes', cases);
