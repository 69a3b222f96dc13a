import { expect } from 'vitest';
import { hide, read, write } from './rules.ts';
import { expectRefusal } from './scene.ts';
import { type Case, contract } from './suite.ts';

const cases: Case[] = [
  {
    name: 'keeps writes in the sandbox: neither the codebase nor another sandbox sees them',
    async run(scene) {
      const codebase = await scene.codebase({ 'a.txt': 'base\n', 'd/b.txt': 'b\n' });
      const [one, other] = [await scene.sandbox(codebase), await scene.sandbox(codebase)];
      await scene.output(one, 'echo changed > a.txt; rm -r d; mkdir n; echo new > n/c.txt; ln -s a.txt l');
      expect(await scene.output(one, 'cat a.txt n/c.txt l; ls')).toBe('changed\nnew\nchanged\na.txt\nl\nn\n');
      expect(await scene.output(other, 'cat a.txt d/b.txt; ls')).toBe('base\nb\na.txt\nd\n');
      expect(await scene.content(codebase, 'a.txt')).toBe('base\n');
      await expectRefusal(scene.client.download(codebase.id, 'n/c.txt'), 'NOT_FOUND');
      expect((await scene.client.call('GetCodebase', { codebase_id: codebase.id })).file_count).toBe(2);
    },
  },
  {
    name: 'sees files that are uploaded later',
    async run(scene) {
      const codebase = await scene.codebase({ 'a.txt': 'one\n' });
      const sandbox = await scene.sandbox(codebase);
      expect(await scene.output(sandbox, 'cat a.txt; ls; test -e later/b.txt || echo not yet')).toBe(
        'one\na.txt\nnot yet\n',
      );
      await scene.client.upload(codebase.id, 'a.txt', 'two\n');
      await scene.client.upload(codebase.id, 'later/b.txt', 'b\n');
      expect(await scene.output(sandbox, 'cat a.txt later/b.txt; ls')).toBe('two\nb\na.txt\nlater\n');
      await scene.rest.send('DELETE', `/v1/codebases/${codebase.id}/files/a.txt`);
      expect(await scene.output(sandbox, 'ls; cat a.txt 2>/dev/null || echo gone')).toBe('later\ngone\n');
    },
  },
  {
    name: 'keeps its own version of a path that it changed, also after later uploads',
    async run(scene) {
      const codebase = await scene.codebase({ 'mine.txt': 'base\n', 'gone.txt': 'base\n' });
      const sandbox = await scene.sandbox(codebase);
      await scene.output(sandbox, 'echo mine > mine.txt; rm gone.txt; echo own > new.txt');
      for (const path of ['mine.txt', 'gone.txt', 'new.txt']) await scene.client.upload(codebase.id, path, 'upload\n');
      expect(await scene.output(sandbox, 'cat mine.txt new.txt; ls')).toBe('mine\nown\nmine.txt\nnew.txt\n');
    },
  },
  {
    name: 'keeps the old content in an open file when it is uploaded again',
    async run(scene) {
      const codebase = await scene.codebase({ f: 'old\n' });
      const sandbox = await scene.sandbox(codebase);
      const command = 'exec 3< f; echo ready; while [ ! -e go ]; do sleep 0.02; done; cat <&3; cat f';
      let text = '';
      for await (const { data } of scene.client.watch('ExecStream', { sandbox_id: sandbox.id, command, timeout: 60 })) {
        if (text === '') {
          await scene.client.upload(codebase.id, 'f', 'new\n');
          await scene.client.upload(codebase.id, 'go', '');
        }
        text += Buffer.from(data).toString();
      }
      expect(text).toBe('ready\nold\nnew\n');
    },
  },
  {
    name: 'applies the rules to files that are uploaded later',
    async run(scene) {
      const codebase = await scene.codebase({});
      const sandbox = await scene.sandbox(codebase, [read('**'), hide('secret/')]);
      await scene.client.upload(codebase.id, 'secret/key', 'key');
      await scene.client.upload(codebase.id, 'plain', 'text');
      const answer = await scene.run(sandbox, 'ls -A; cat secret/key');
      expect(answer).toMatchObject({ stdout: 'plain\n', exit_code: 1 });
      expect(answer.stderr).toContain('No such file');
    },
  },
  {
    name: 'runs common developer tools: git, tar, node, python3, save by rename',
    async run(scene) {
      const sandbox = await scene.sandboxOn({ 'src/a.js': 'module.exports = 41;\n' });
      const git = 'git -c user.name=a -c user.email=a@example.com';
      await scene.output(
        sandbox,
        `export HOME=/tmp; git config --global safe.directory '*'; git init -q . && git add . && ${git} commit -qm one && echo >> src/a.js && git status --short`,
      );
      expect(await scene.output(sandbox, 'export HOME=/tmp; git log --format=%s; git diff --stat | tail -1')).toContain(
        'one\n 1 file changed',
      );
      expect(
        await scene.output(
          sandbox,
          'tar cf /tmp/x.tar src && mkdir out && tar xf /tmp/x.tar -C out && cat out/src/a.js',
        ),
      ).toContain('41');
      expect(
        await scene.output(sandbox, "python3 -c \"import json; json.dump([1], open('j.json', 'w'))\" && cat j.json"),
      ).toBe('[1]');
      expect(await scene.output(sandbox, 'echo saved > .a.swp && mv .a.swp src/a.js && cat src/a.js')).toBe('saved\n');
      expect(await scene.output(sandbox, 'rm -rf out .git && ls -A')).toBe('j.json\nsrc\n');
    },
  },
  {
    name: 'keeps a file that is removed while it is open',
    async run(scene) {
      const sandbox = await scene.sandboxOn({ f: 'text\n' });
      expect(await scene.output(sandbox, 'exec 3<> f; rm f; cat <&3; ls; echo x > g; exec 4< g; rm g; cat <&4')).toBe(
        'text\nx\n',
      );
    },
  },
  {
    name: 'appends from many writers without losing a line',
    async run(scene) {
      const sandbox = await scene.sandboxOn({});
      const writers = Array.from({ length: 8 }, (_, index) =>
        scene.output(sandbox, `for i in $(seq 100); do echo ${index} >> log; done`),
      );
      await Promise.all(writers);
      expect(await scene.output(sandbox, 'wc -l < log')).toBe('800\n');
    },
  },
  {
    name: 'destroying a sandbox removes its changes',
    async run(scene) {
      const codebase = await scene.codebase({ f: 'base\n' });
      const sandbox = await scene.sandbox(codebase, [write('**')]);
      await scene.output(sandbox, 'echo changed > f');
      await scene.client.call('DestroySandbox', { sandbox_id: sandbox.id });
      expect(await scene.output(await scene.sandbox(codebase), 'cat f')).toBe('base\n');
    },
  },
];

contract('the workspace', cases);
