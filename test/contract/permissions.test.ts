import { expect } from 'vitest';
import type { PermissionRule } from '../../lib/contract/messages.ts';
import { ABSENT, DENIED, outcome } from './outcome.ts';
import { hide, read, view, write } from './rules.ts';
import { expectRefusal } from './scene.ts';
import { type Case, contract } from './suite.ts';

const TREE = {
  'README.md': 'readme\n',
  'docs/guide.md': 'guide\n',
  'docs/.draft.md': 'draft\n',
  'docs/deep/er/more.md': 'more\n',
  'src/main.js': 'main\n',
  'src/main.test.js': 'test\n',
  'src/lib/util.js': 'util\n',
  'secret/key.pem': 'key\n',
  'secret/public/cert.pem': 'cert\n',
};

/** The files whose content can be read, from the root. */
const readable = 'find . -type f | sort | while read -r f; do cat "$f" >/dev/null 2>&1 && echo "$f"; done; true';
const visible = 'find . -mindepth 1 | sort';

const ruleSets: { name: string; rules: PermissionRule[]; files: string[] }[] = [
  { name: 'no rule at all hides everything', rules: [], files: [] },
  { name: '*.md matches in the root only', rules: [read('*.md')], files: ['README.md'] },
  {
    name: '**/*.md matches everywhere, also a leading dot',
    rules: [read('**/*.md')],
    files: ['README.md', 'docs/.draft.md', 'docs/deep/er/more.md', 'docs/guide.md'],
  },
  {
    name: '/docs/** matches docs itself and all below it',
    rules: [read('/docs/**')],
    files: ['docs/.draft.md', 'docs/deep/er/more.md', 'docs/guide.md'],
  },
  {
    name: 'DIRECTORY matches the directory and all below it',
    rules: [read('docs/')],
    files: ['docs/.draft.md', 'docs/deep/er/more.md', 'docs/guide.md'],
  },
  { name: 'FILE matches one exact path', rules: [read('src/main.js')], files: ['src/main.js'] },
  { name: '? matches one character', rules: [read('docs/guid?.md')], files: ['docs/guide.md'] },
  { name: '[…] matches one of a set', rules: [read('docs/[f-h]uide.md')], files: ['docs/guide.md'] },
  {
    name: '{a,b} matches either',
    rules: [read('{docs,src}/{guide.md,main.js}')],
    files: ['docs/guide.md', 'src/main.js'],
  },
  { name: '* stays within one component', rules: [read('src/*')], files: ['src/main.js', 'src/main.test.js'] },
  {
    name: '** spans any number of components',
    rules: [read('docs/**/more.md'), read('src/**/main.js')],
    files: ['docs/deep/er/more.md', 'src/main.js'],
  },
  {
    name: 'the higher priority wins over the more specific',
    rules: [hide('src/**', 10), read('src/main.js', 5)],
    files: [],
  },
  {
    name: 'FILE wins over DIRECTORY, and DIRECTORY over GLOB',
    rules: [read('**'), hide('src/'), read('src/main.js'), hide('docs/')],
    files: ['README.md', 'secret/key.pem', 'secret/public/cert.pem', 'src/main.js'],
  },
  {
    name: 'the longer literal prefix wins',
    rules: [hide('src/**'), read('src/lib/**'), hide('docs/'), read('docs/deep/')],
    files: ['docs/deep/er/more.md', 'src/lib/util.js'],
  },
  {
    name: 'the more restrictive of two equal patterns wins, in either order',
    rules: [read('src/main.js'), hide('src/main.js'), hide('README.md'), read('README.md')],
    files: [],
  },
  {
    name: 'a priority may be negative',
    rules: [hide('**', -1), read('README.md', -2), read('docs/guide.md', 0)],
    files: ['docs/guide.md'],
  },
];

/** In one sandbox: to create one takes longer than all the rest. */
const matching: Case = {
  name: 'match paths as documented, at once after they replaced others',
  async run(scene) {
    const { id } = await scene.sandboxOn(TREE, []);
    for (const { name, rules, files } of ruleSets) {
      const sandbox = await scene.client.call('UpdatePermissions', { sandbox_id: id, permissions: rules });
      const found = (await scene.output(sandbox, readable)).split('\n').filter(Boolean);
      expect({ name, found }).toEqual({ name, found: files.map((file) => `./${file}`) });
    }
  },
};

const directories: Case[] = [
  {
    name: 'lists only the visible entries of a directory that is traversed',
    async run(scene) {
      const sandbox = await scene.sandboxOn(TREE, [hide('**'), read('docs/deep/er/more.md'), view('secret/public/')]);
      expect((await scene.output(sandbox, visible)).split('\n').filter(Boolean)).toEqual([
        './docs',
        './docs/deep',
        './docs/deep/er',
        './docs/deep/er/more.md',
        './secret',
        './secret/public',
        './secret/public/cert.pem',
      ]);
      expect(await scene.output(sandbox, 'cat docs/deep/er/more.md')).toBe('more\n');
      expect(await outcome(scene, sandbox, 'cat secret/public/cert.pem')).toBe(DENIED);
      expect(await outcome(scene, sandbox, 'cat secret/key.pem')).toBe(ABSENT);
      expect(await outcome(scene, sandbox, 'ls src')).toBe(ABSENT);
      expect(await outcome(scene, sandbox, 'cd src')).not.toBe('');
    },
  },
  {
    name: 'refuses to remove or move a directory with something hidden in it',
    async run(scene) {
      const sandbox = await scene.sandboxOn(TREE, [write('**'), hide('secret/key.pem')]);
      expect(await outcome(scene, sandbox, 'rm -rf secret')).toBe(DENIED);
      expect(await outcome(scene, sandbox, 'mv secret elsewhere')).toBe(DENIED);
      expect(await outcome(scene, sandbox, 'ls -a secret | grep -c key.pem')).toBe('exit 1: ');
    },
  },
  {
    name: 'refuses to move a directory with something read-only in it',
    async run(scene) {
      const sandbox = await scene.sandboxOn(TREE, [write('**'), read('src/main.js')]);
      expect(await outcome(scene, sandbox, 'mv src elsewhere')).toBe(DENIED);
      expect(await scene.output(sandbox, 'cat src/main.js')).toBe('main\n');
    },
  },
  {
    name: 'moves, fills and removes a directory whose entries are all writable',
    async run(scene) {
      const sandbox = await scene.sandboxOn(TREE, [write('**')]);
      const command = 'mv src lib2 && echo x > lib2/new && ls lib2 && rm -r lib2 docs && ls';
      expect(await scene.output(sandbox, command)).toBe('lib\nmain.js\nmain.test.js\nnew\nREADME.md\nsecret\n');
    },
  },
  {
    name: 'refuses to create entries in a directory that is not writable',
    async run(scene) {
      const sandbox = await scene.sandboxOn(TREE, [read('**'), write('src/**')]);
      for (const command of [
        'echo x > docs/new',
        'mkdir docs/new',
        'ln -s x docs/new',
        'mkfifo docs/new',
        'rmdir docs/deep',
      ]) {
        expect([command, await outcome(scene, sandbox, command)]).toEqual([command, DENIED]);
      }
      expect(await outcome(scene, sandbox, 'echo x > src/new && cat src/new')).toBe('x\n');
    },
  },
];

const around: Case[] = [
  {
    name: 'applies to paths that do not exist yet',
    async run(scene) {
      const rules = [write('**'), hide('.env'), read('locked/'), view('shown.txt')];
      const sandbox = await scene.sandboxOn({ 'a.txt': 'a\n' }, rules);
      for (const command of [
        'echo x > .env',
        'mkdir locked',
        'echo x > shown.txt',
        'mv a.txt .env',
        'ln a.txt .env',
        'ln -s a.txt .env',
        'mkdir d && mv d locked',
      ]) {
        expect([command, await outcome(scene, sandbox, command)]).toEqual([command, DENIED]);
      }
      expect(await scene.output(sandbox, 'rmdir d; ls -A')).toBe('a.txt\n');
    },
  },
  {
    name: 'refuses renames and links of a file from a stricter path to a less strict one',
    async run(scene) {
      const rules = [read('locked/'), write('free/'), view('shown/')];
      const sandbox = await scene.sandboxOn({ 'locked/a': 'a\n', 'shown/b': 'b\n', 'free/c': 'c\n' }, rules);
      for (const command of [
        'mv locked/a free/a',
        'ln locked/a free/a',
        'mv shown/b free/b',
        'ln shown/b free/b',
        'mv locked free/locked',
        'mv free/c locked/c',
        'ln free/c locked/c',
      ]) {
        expect([DENIED, 'Operation not permitted'], command).toContain(await outcome(scene, sandbox, command));
      }
      expect(await outcome(scene, sandbox, 'cat free/a')).toBe(ABSENT);
    },
  },
  {
    name: 'applies the rule of the target to accesses through a symlink',
    async run(scene) {
      const rules = [write('free/'), hide('secret')];
      const sandbox = await scene.sandboxOn({ secret: 'secret\n', 'free/c': '' }, rules);
      const links =
        'ln -s ../secret free/relative; ln -s /workspace/secret free/absolute; ln -s /proc/self/cwd/secret free/odd';
      await scene.output(sandbox, links);
      for (const name of ['relative', 'absolute', 'odd']) {
        expect(await outcome(scene, sandbox, `cat free/${name}`)).toBe(ABSENT);
        expect(await outcome(scene, sandbox, `echo x > free/${name}`)).toBe(DENIED);
      }
    },
  },
  {
    name: 'executes a program at level READ by its mode, and refuses one at level VIEW',
    async run(scene) {
      const codebase = await scene.codebase({});
      for (const name of ['run.sh', 'seen.sh']) {
        await scene.client.upload(codebase.id, name, '#!/bin/sh\necho ran\n', 0o755);
      }
      await scene.client.upload(codebase.id, 'plain.sh', '#!/bin/sh\necho ran\n');
      const sandbox = await scene.sandbox(codebase, [read('**'), view('seen.sh')]);
      expect(await outcome(scene, sandbox, './run.sh')).toBe('ran\n');
      expect(await outcome(scene, sandbox, './seen.sh')).toBe(DENIED);
      expect(await outcome(scene, sandbox, './plain.sh')).toBe(DENIED);
    },
  },
  {
    name: 'shows modes without write bits where writing is forbidden',
    async run(scene) {
      const codebase = await scene.codebase({});
      await scene.client.upload(codebase.id, 'run.sh', '', 0o755);
      await scene.client.upload(codebase.id, 'plain', '');
      const sandbox = await scene.sandbox(codebase, [write('**')]);
      expect(await scene.output(sandbox, 'stat -c %a run.sh plain')).toBe('755\n644\n');
    },
  },
  {
    name: 'shows nothing of a hidden file in git status, grep -r and tar',
    async run(scene) {
      const sandbox = await scene.sandboxOn(TREE, [write('**'), hide('secret/')]);
      const answer = await scene.run(sandbox, 'grep -r key . ; tar cf - . | tar tf - | grep -c secret');
      expect(answer.stdout).toBe('0\n');
      expect(answer.stderr).toBe('');
    },
  },
  {
    name: 'protects the files of a read-only sandbox from another sandbox on the same codebase',
    async run(scene) {
      const codebase = await scene.codebase({ a: 'a\n' });
      const [writer, reader] = [
        await scene.sandbox(codebase, [write('**')]),
        await scene.sandbox(codebase, [read('**')]),
      ];
      await scene.output(writer, 'echo changed > a; echo new > b');
      expect(await scene.output(reader, 'cat a; ls')).toBe('a\na\n');
      await expectRefusal(scene.client.call('Exec', { sandbox_id: `${reader.id}x`, command: 'true' }), 'NOT_FOUND');
    },
  },
];

contract('permission rules', [matching, ...directories, ...around]);
