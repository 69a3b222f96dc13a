import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Codebase, ExecStreamChunk, Sandbox } from '../../lib/contract/messages.ts';
import { atTimeout } from '../at-timeout.ts';
import { EVERYTHING, read, write } from './rules.ts';
import { eventually, expectRefusal, type Scene } from './scene.ts';
import { type Case, contract, EVERY } from './suite.ts';
import { useServer } from './use-server.ts';

const TREE = { a: 'one\n', b: 'b\n', 'd/x': 'x\n' };

const sandboxThat = (scene: Scene, codebase: Codebase, auto_commit: string, more: object = {}) =>
  scene.sandbox(codebase, EVERYTHING, { auto_commit, ...more });
const get = (scene: Scene, { id }: Sandbox) => scene.client.call('GetSandbox', { sandbox_id: id });
const changed = async (scene: Scene, { id }: Sandbox) =>
  (await scene.client.call('ListChanges', { sandbox_id: id })).changes.map(({ path }) => path);

const cases: Case[] = [
  {
    name: 'on_exec: the changes of a command are in the codebase, visible to others, before its response',
    async run(scene) {
      const codebase = await scene.codebase(TREE);
      const sandbox = await sandboxThat(scene, codebase, 'on_exec');
      const other = await scene.sandbox(codebase);
      expect(sandbox).toMatchObject({ auto_commit: 'on_exec', auto_commit_error: '', auto_commit_stopped: false });
      await scene.output(sandbox, 'echo two > a; mkdir n; echo n > n/f; rm -r d');
      expect(await scene.output(other, 'cat a n/f; ls')).toBe('two\nn\na\nb\nn\n');
      expect(await changed(scene, sandbox)).toEqual([]);
      await scene.output(sandbox, 'true');
      expect((await scene.run(sandbox, 'echo three > a; exit 3')).exit_code).toBe(3);
      expect(await scene.content(codebase, 'a')).toBe('three\n');
    },
  },
  {
    name: 'on_exec: the last chunk of a stream comes after the commit',
    async run(scene) {
      const codebase = await scene.codebase(TREE);
      const sandbox = await sandboxThat(scene, codebase, 'on_exec');
      const chunks: ExecStreamChunk[] = [];
      for await (const chunk of scene.client.watch('ExecStream', {
        sandbox_id: sandbox.id,
        command: 'echo said; echo two > a',
      })) {
        chunks.push(chunk);
      }
      expect(await scene.content(codebase, 'a')).toBe('two\n');
      expect(chunks.at(-1)).toMatchObject({ exit_code: 0 });
    },
  },
  {
    name: 'on_exec: writes before a timeout are committed',
    async run(scene) {
      const codebase = await scene.codebase(TREE);
      const sandbox = await sandboxThat(scene, codebase, 'on_exec');
      const written = async (timeout: number) => {
        await expectRefusal(scene.run(sandbox, 'echo two > a; sleep 60', { timeout }), 'DEADLINE_EXCEEDED');
        return scene.content(codebase, 'a');
      };
      expect(await atTimeout(written, (content) => content === 'two\n')).toBe('two\n');
    },
  },
  {
    name: 'on_exec: later writes of a background program are committed when the sandbox is stopped',
    async run(scene) {
      const codebase = await scene.codebase(TREE);
      const sandbox = await sandboxThat(scene, codebase, 'on_exec');
      await scene.output(
        sandbox,
        '(until test -e go; do sleep 0.02; done; echo later > t; mv t a; sleep 60) >/dev/null 2>&1 &',
      );
      expect(await scene.content(codebase, 'a')).toBe('one\n');
      await scene.client.write('WriteFile', { sandbox_id: sandbox.id, path: 'go' }, '');
      await eventually('the program has written', async () => (await changed(scene, sandbox)).includes('a'));
      expect(await scene.content(codebase, 'a')).toBe('one\n');
      await scene.client.call('StopSandbox', { sandbox_id: sandbox.id });
      expect(await scene.content(codebase, 'a')).toBe('later\n');
    },
  },
  {
    name: 'on_stop: nothing is in the codebase before the sandbox is stopped, then everything is',
    async run(scene) {
      const codebase = await scene.codebase(TREE);
      const sandbox = await sandboxThat(scene, codebase, 'on_stop');
      await scene.output(sandbox, 'echo two > a');
      expect(await scene.content(codebase, 'a')).toBe('one\n');
      const stopped = await scene.client.call('StopSandbox', { sandbox_id: sandbox.id });
      expect(stopped).toMatchObject({ status: 'SANDBOX_STOPPED', auto_commit: 'on_stop', auto_commit_error: '' });
      expect(await scene.content(codebase, 'a')).toBe('two\n');
      expect(await changed(scene, sandbox)).toEqual([]);
      await scene.client.call('StartSandbox', { sandbox_id: sandbox.id });
      await scene.output(sandbox, 'echo three >> a');
      await scene.client.call('DestroySandbox', { sandbox_id: sandbox.id });
      expect(await scene.content(codebase, 'a')).toBe('two\nthree\n');
    },
  },
  {
    name: 'on_stop: the changes of an expired sandbox are committed before it is destroyed',
    async run(scene) {
      const codebase = await scene.codebase(TREE);
      const sandbox = await sandboxThat(scene, codebase, 'on_stop');
      await scene.output(sandbox, 'echo two > a');
      await scene.client.call('UpdateSandbox', { sandbox_id: sandbox.id, expires_in: 1 });
      await eventually('it is gone', async () =>
        get(scene, sandbox).then(
          () => undefined,
          () => true,
        ),
      );
      expect(await scene.content(codebase, 'a')).toBe('two\n');
    },
  },
  {
    name: 'on_exec: files that a sandbox has only touched do not conflict with commits of others, also while it is stopped',
    async run(scene) {
      const codebase = await scene.codebase(TREE);
      const [touching, stopped, writing] = await Promise.all(
        ['on_exec', 'on_exec', 'on_exec'].map((when) => sandboxThat(scene, codebase, when)),
      );
      const touch = 'touch a; chmod 700 b; chmod 644 b; mv d/x d/y; mv d/y d/x';
      await scene.output(touching!, touch);
      await scene.output(stopped!, touch);
      await scene.client.call('StopSandbox', { sandbox_id: stopped!.id });
      await scene.output(writing!, 'for f in a b d/x; do echo two > $f; done');
      await scene.client.call('StartSandbox', { sandbox_id: stopped!.id });
      for (const sandbox of [touching!, stopped!]) {
        expect(await scene.output(sandbox, 'cat a b d/x')).toBe('two\ntwo\ntwo\n');
        expect(await changed(scene, sandbox)).toEqual([]);
      }
      for (const sandbox of [touching!, stopped!]) {
        await scene.output(sandbox, `echo ${sandbox.id} > a; touch b`);
        expect(await get(scene, sandbox)).toMatchObject({ auto_commit_error: '', auto_commit_stopped: false });
        expect(await scene.content(codebase, 'a')).toBe(`${sandbox.id}\n`);
      }
    },
  },
  {
    name: 'a conflict overwrites nothing, is shown in the status, and stops automatic commits until a Commit',
    async run(scene) {
      const codebase = await scene.codebase(TREE);
      const sandbox = await sandboxThat(scene, codebase, 'on_exec');
      const writing = scene.output(
        sandbox,
        'echo mine > a; touch /tmp/wrote; while ! test -e /tmp/go; do sleep 0.02; done; echo mine > new',
      );
      const other = await scene.sandbox(codebase);
      await eventually('the first has written', async () => {
        const { auto_commit_error } = await get(scene, sandbox);
        return (await scene.client.call('ListChanges', { sandbox_id: sandbox.id })).changes.length > 0 &&
          auto_commit_error === ''
          ? true
          : undefined;
      });
      await scene.client.upload(codebase.id, 'a', 'theirs\n');
      await scene.output(sandbox, 'touch /tmp/go');
      await writing;
      const told = await get(scene, sandbox);
      expect(told).toMatchObject({ status: 'SANDBOX_RUNNING', auto_commit_stopped: true });
      expect(told.auto_commit_error).toMatch(/another version than the sandbox started from of "a"/);
      await scene.output(sandbox, 'echo more > more');
      expect(await scene.output(other, 'cat a; ls')).toBe('theirs\na\nb\nd\n');
      expect(await changed(scene, sandbox)).toEqual(['a', 'more', 'new']);

      await scene.client.call('Commit', { sandbox_id: sandbox.id, paths: ['a'], on_conflict: 'ours' });
      expect(await get(scene, sandbox)).toMatchObject({ auto_commit_error: '', auto_commit_stopped: false });
      await scene.output(sandbox, 'true');
      expect(await scene.output(other, 'cat a new more')).toBe('mine\nmine\nmore\n');
    },
  },
  {
    name: 'a sandbox whose changes conflict is not destroyed without discard',
    async run(scene) {
      const codebase = await scene.codebase(TREE);
      const sandbox = await sandboxThat(scene, codebase, 'on_stop');
      await scene.output(sandbox, 'echo mine > a');
      await scene.client.upload(codebase.id, 'a', 'theirs\n');
      for (let attempt = 0; attempt < 2; attempt++) {
        const destroying = scene.client.call('DestroySandbox', { sandbox_id: sandbox.id });
        await expectRefusal(destroying, 'FAILED_PRECONDITION', /could not be committed .* destroy it with discard$/);
        expect(await get(scene, sandbox)).toMatchObject({ status: 'SANDBOX_STOPPED', auto_commit_stopped: true });
      }
      expect(await changed(scene, sandbox)).toEqual(['a']);
      await scene.client.call('StartSandbox', { sandbox_id: sandbox.id });
      expect(await scene.output(sandbox, 'cat a')).toBe('mine\n');
      await scene.client.call('DestroySandbox', { sandbox_id: sandbox.id, discard: true });
      await expectRefusal(get(scene, sandbox), 'NOT_FOUND');
      expect(await scene.content(codebase, 'a')).toBe('theirs\n');
    },
  },
  {
    name: 'a discard of the conflicting paths resumes automatic commits',
    async run(scene) {
      const codebase = await scene.codebase(TREE);
      const sandbox = await sandboxThat(scene, codebase, 'on_stop');
      await scene.output(sandbox, 'echo mine > a; echo mine > b');
      await scene.client.upload(codebase.id, 'a', 'theirs\n');
      const stopped = await scene.client.call('StopSandbox', { sandbox_id: sandbox.id });
      expect(stopped).toMatchObject({ auto_commit_stopped: true });
      expect(await scene.content(codebase, 'b')).toBe('b\n');
      await scene.client.call('Discard', { sandbox_id: sandbox.id, paths: ['a'] });
      await scene.client.call('DestroySandbox', { sandbox_id: sandbox.id });
      expect(await scene.content(codebase, 'a')).toBe('theirs\n');
      expect(await scene.content(codebase, 'b')).toBe('mine\n');
    },
  },
  {
    name: 'a commit that the current rules forbid is reported and retried after the next command',
    async run(scene) {
      const codebase = await scene.codebase(TREE);
      const sandbox = await sandboxThat(scene, codebase, 'on_exec');
      const setRules = (permissions: object[]) =>
        scene.client.call('UpdatePermissions', { sandbox_id: sandbox.id, permissions });
      const writing = scene.output(sandbox, 'echo two > a; while ! test -e /tmp/go; do sleep 0.02; done');
      await eventually('it has written', async () => (await changed(scene, sandbox)).length > 0);
      await setRules([write('**'), read('a', 1)]);
      await scene.output(sandbox, 'touch /tmp/go');
      await writing;
      const told = await get(scene, sandbox);
      expect(told).toMatchObject({ auto_commit_stopped: false });
      expect(told.auto_commit_error).toMatch(/"a"/);
      expect(await scene.content(codebase, 'a')).toBe('one\n');
      await setRules([...EVERYTHING]);
      await scene.output(sandbox, 'true');
      expect(await scene.content(codebase, 'a')).toBe('two\n');
      expect((await get(scene, sandbox)).auto_commit_error).toBe('');
    },
  },
  {
    name: 'commands that end at the same time are all answered while a program writes to a file continuously',
    async run(scene) {
      const codebase = await scene.codebase(TREE);
      const sandbox = await sandboxThat(scene, codebase, 'on_exec');
      await scene.output(sandbox, '(while :; do echo x >> busy; done) >/dev/null 2>&1 &');
      await Promise.all([1, 2, 3, 4].map((n) => scene.output(sandbox, `echo ${n} > f${n}`)));
      const stopped = await scene.client.call('StopSandbox', { sandbox_id: sandbox.id });
      expect(stopped).toMatchObject({ auto_commit_error: '', auto_commit_stopped: false });
      for (const n of [1, 2, 3, 4]) expect(await scene.content(codebase, `f${n}`)).toBe(`${n}\n`);
      expect(await changed(scene, sandbox)).toEqual([]);
    },
  },
  {
    name: 'auto_commit is never by default, and other values are refused',
    runtimes: EVERY,
    async run(scene) {
      const codebase = await scene.codebase(TREE);
      expect((await scene.sandbox(codebase)).auto_commit).toBe('never');
      await expectRefusal(
        sandboxThat(scene, codebase, 'always'),
        'INVALID_ARGUMENT',
        /^auto_commit must be never, on_exec, on_stop or empty/,
      );
    },
  },
];

contract('committing automatically', cases, { sandbox: { cleanup_interval: '1s' } });

describe('a server that is killed while it commits automatically', () => {
  const served = useServer();

  it.each(['commit', 'commit/many/100', 'commit.json', 'files/f1'])(
    '(at %s): the next server commits',
    async (moment) => {
      const first = served.scene();
      const codebase = await first.codebase({ a: 'one\n' });
      const sandbox = await sandboxThat(first, codebase, 'on_stop');
      await first.output(sandbox, 'for i in $(seq 400); do echo $i > f$i; done; rm a');
      const directory = join(served.state.directory, 'codebases', codebase.id);
      const stopping = first.client.call('StopSandbox', { sandbox_id: sandbox.id }).catch(() => undefined);
      let isOver = false;
      void stopping.then(() => {
        isOver = true;
      });
      while (!existsSync(join(directory, moment)) && !isOver) await new Promise((done) => setImmediate(done));
      const second = await served.next(first);
      await stopping;
      await eventually(
        'the commit',
        async () => (await second.client.call('GetCodebase', { codebase_id: codebase.id })).file_count === 400,
      );
      expect(await second.content(codebase, 'f400')).toBe('400\n');
      expect(await changed(second, sandbox)).toEqual([]);
      expect(await get(second, sandbox)).toMatchObject({ status: 'SANDBOX_STOPPED', auto_commit_error: '' });
      await second.client.call('DestroySandbox', { sandbox_id: sandbox.id });
      await second.close();
    },
  );
});
