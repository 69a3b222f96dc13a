import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { FileChange, Sandbox } from '../../lib/contract/messages.ts';
import { emptyDirectory, putAll } from '../directory.ts';
import { collect } from './client.ts';
import { hide, write } from './rules.ts';
import { expectRefusal, type Scene } from './scene.ts';
import { type Case, contract } from './suite.ts';

const BINARY = Buffer.from(Array.from({ length: 3000 }, (_, index) => (index * 31) % 256));
const TREE: Record<string, string | Buffer> = {
  'README.md': 'one\ntwo\nthree\n',
  'src/main.js': 'main\n',
  'src/old name.js': 'old\n',
  'src/gone.js': 'gone\n',
  'lib/a.js': 'a\n',
  'lib/deep/b.js': 'b\n',
  'data.bin': BINARY,
  'run.sh': '#!/bin/sh\n',
};

const WORK = [
  'sed -i s/two/TWO/ README.md',
  'printf "no newline" >> src/main.js',
  'mv "src/old name.js" src/new.js',
  'rm src/gone.js',
  'mv lib moved && echo c >> moved/deep/b.js',
  'cat data.bin data.bin > more.bin && printf x >> data.bin',
  'chmod +x run.sh && touch -d @1 README.md',
  'mkdir empty && ln -s ../README.md src/link',
  ': > src/nothing',
  'echo same > t && rm t',
].join(' && ');

const changesOf = async (scene: Scene, sandbox: Sandbox, page = {}): Promise<readonly FileChange[]> =>
  (await scene.client.call('ListChanges', { sandbox_id: sandbox.id, ...page })).changes;

const line = ({ kind, path, content_changed, renamed_from }: FileChange) =>
  `${kind.slice(7)} ${path}${renamed_from && ` from ${renamed_from}`}${content_changed ? '' : ' (mode)'}`;

/** Type, mode, and contents of everything below, but for directories, which git does not have. */
const LIST =
  'find . -type l -printf "%p -> %l\\n" -o -type f -printf "%p %04m " -exec sha1sum {} \\; | sed "s/  .*//" | sort';

const listed = () => execFileSync('sh', ['-c', LIST], { cwd: directory }).toString();

const directory = emptyDirectory();

const cases: Case[] = [
  {
    name: 'a sandbox that only read has no changes',
    async run(scene) {
      const sandbox = await scene.sandboxOn(TREE);
      await scene.output(sandbox, 'cat src/* > /dev/null; touch /tmp/elsewhere');
      expect(await changesOf(scene, sandbox)).toEqual([]);
      expect(
        await collect(scene.client.read('ExportChanges', { sandbox_id: sandbox.id, format: 'patch' })),
      ).toHaveLength(0);
    },
  },
  {
    name: 'changes are listed in path order with kind, type, sizes and modes, of a running and a stopped sandbox',
    async run(scene) {
      const sandbox = await scene.sandboxOn(TREE);
      await scene.output(sandbox, WORK);
      const changes = await changesOf(scene, sandbox);
      expect(changes.map(line)).toEqual([
        'MODIFIED README.md',
        'MODIFIED data.bin',
        'ADDED empty',
        'DELETED lib',
        'DELETED lib/a.js',
        'DELETED lib/deep',
        'DELETED lib/deep/b.js',
        'ADDED more.bin',
        'ADDED moved from lib',
        'ADDED moved/a.js from lib/a.js',
        'ADDED moved/deep from lib/deep',
        'ADDED moved/deep/b.js from lib/deep/b.js',
        'MODIFIED run.sh (mode)',
        'DELETED src/gone.js',
        'ADDED src/link',
        'MODIFIED src/main.js',
        'ADDED src/new.js from src/old name.js',
        'ADDED src/nothing',
        'DELETED src/old name.js',
      ]);
      expect(changes.find(({ path }) => path === 'data.bin')).toMatchObject({
        path: 'data.bin',
        kind: 'CHANGE_MODIFIED',
        type: 'TYPE_FILE',
        size: 3001,
        base_size: 3000,
        mode: 0o644,
        base_mode: 0o644,
        base_type: 'TYPE_FILE',
        content_changed: true,
        renamed_from: '',
        conflict: false,
        scratch: false,
      });
      await scene.client.call('StopSandbox', { sandbox_id: sandbox.id });
      expect(await changesOf(scene, sandbox)).toEqual(changes);
    },
  },
  {
    name: 'the pages of a listing contain each change once, in order',
    async run(scene) {
      const sandbox = await scene.sandboxOn({});
      await scene.output(sandbox, 'for i in $(seq 25); do mkdir d$i; echo $i > d$i/f; done');
      const whole = await changesOf(scene, sandbox);
      const paged: FileChange[] = [];
      let page_token = '';
      do {
        const page = await scene.client.call('ListChanges', { sandbox_id: sandbox.id, page_size: 7, page_token });
        paged.push(...page.changes);
        page_token = page.next_page_token;
      } while (page_token !== '');
      expect(paged).toEqual(whole);
      expect(whole).toHaveLength(50);
      const wrong = scene.client.call('ListChanges', { sandbox_id: sandbox.id, page_token: 'x' });
      await expectRefusal(wrong, 'INVALID_ARGUMENT', /^page_token/);
    },
  },
  {
    name: 'git apply of the exported patch produces the same tree',
    async run(scene) {
      const sandbox = await scene.sandboxOn(TREE);
      await scene.output(sandbox, WORK);
      const patch = await collect(scene.client.read('ExportChanges', { sandbox_id: sandbox.id, format: 'patch' }));
      putAll(directory, TREE);
      execFileSync('git', ['apply', '-'], { cwd: directory, input: patch });
      expect(listed()).toBe(await scene.output(sandbox, LIST));
    },
  },
  {
    name: 'the exported tar contains every added or modified file',
    async run(scene) {
      const sandbox = await scene.sandboxOn(TREE);
      await scene.output(sandbox, WORK);
      const archive = await collect(scene.client.read('ExportChanges', { sandbox_id: sandbox.id, format: 'tar' }));
      putAll(directory, TREE);
      for (const path of ['lib', 'src/gone.js', 'src/old name.js']) rmSync(join(directory, path), { recursive: true });
      execFileSync('tar', ['-xf', '-'], { cwd: directory, input: archive });
      expect(listed()).toBe(await scene.output(sandbox, LIST));
    },
  },
  {
    name: 'writes through mapped pages are changes',
    async run(scene) {
      const sandbox = await scene.sandboxOn({ f: 'text' });
      const program = `import mmap, time\nf = open('f', 'r+b')\nm = mmap.mmap(f.fileno(), 0)\nm[0] = 84\nopen('/tmp/done', 'w')\ntime.sleep(30)`;
      const running = new AbortController();
      const held = scene.client
        .call('Exec', { sandbox_id: sandbox.id, command: 'python3 -', stdin: program, timeout: 60 }, running.signal)
        .catch(() => undefined);
      await scene.output(sandbox, 'while ! test -e /tmp/done; do sleep 0.05; done');
      expect((await changesOf(scene, sandbox)).map(line)).toEqual(['MODIFIED f']);
      running.abort();
      await held;
    },
  },
  {
    name: 'hidden paths are not listed as changes',
    async run(scene) {
      const sandbox = await scene.sandboxOn(TREE, [write('**'), hide('lib/', 1)]);
      await scene.run(sandbox, 'rm -rf lib src; true');
      const changed = (await changesOf(scene, sandbox)).map(({ path }) => path);
      expect(changed.filter((path) => path.startsWith('lib'))).toEqual([]);
      expect(changed).toContain('src/main.js');
    },
  },
  {
    name: 'unknown formats and sandboxes are refused',
    async run(scene) {
      const sandbox = await scene.sandboxOn({});
      await expectRefusal(
        scene.client.read('ExportChanges', { sandbox_id: sandbox.id, format: 'zip' }),
        'INVALID_ARGUMENT',
        /^format must be/,
      );
      await expectRefusal(
        scene.client.read('ExportChanges', { sandbox_id: 'sb_none', format: 'tar' }),
        'NOT_FOUND',
        /sb_none/,
      );
      await expectRefusal(changesOf(scene, { ...sandbox, id: 'sb_none' }), 'NOT_FOUND', /sb_none/);
    },
  },
];

contract('changes of a sandbox', cases);
