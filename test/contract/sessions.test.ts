import { expect } from 'vitest';
import type { Session } from '../../lib/contract/messages.ts';
import { eventually, expectRefusal, type Scene } from './scene.ts';
import { type Case, contract, everywhere } from './suite.ts';

const open = (scene: Scene, sandbox_id: string, more: object = {}) =>
  scene.client.call('CreateSession', { sandbox_id, ...more });

const exec = (scene: Scene, { id }: Session, command: string, more: object = {}) =>
  scene.client.call('SessionExec', { session_id: id, command, timeout: 60, ...more });

const get = (scene: Scene, { id }: Session) => scene.client.call('GetSession', { session_id: id });

/** Cases that every runtime fulfils: `true`, `echo`, `sleep` and `exit` are all they run. */
const anywhere: Case[] = [
  {
    name: 'lists sessions, the newest first, and forgets one that is destroyed',
    async run(scene) {
      const { id: sandbox_id } = await scene.sandboxOn({});
      const made: Session[] = [];
      for (let count = 0; count < 3; count++) made.push(await open(scene, sandbox_id));
      expect(made[0]).toMatchObject({ sandbox_id, status: 'SESSION_ACTIVE', closed_at: 0, status_reason: '' });
      expect(made[0]!.shell).toMatch(/^\/.*sh$/);
      expect(await get(scene, made[0]!)).toEqual(made[0]);
      const first = await scene.client.call('ListSessions', { sandbox_id, page_size: 2 });
      const page_token = first.next_page_token;
      const second = await scene.client.call('ListSessions', { sandbox_id, page_size: 2, page_token });
      expect([...first.sessions, ...second.sessions]).toEqual(made.toReversed());
      expect(second.next_page_token).toBe('');
      await scene.client.call('DestroySession', { session_id: made[0]!.id });
      await expectRefusal(get(scene, made[0]!), 'NOT_FOUND', 'sessions do not outlive it');
      await expectRefusal(exec(scene, made[0]!, 'true'), 'NOT_FOUND');
    },
  },
  {
    name: 'ends with its shell: the answer has the exit code, and later commands are refused with the reason',
    async run(scene) {
      const { id } = await scene.sandboxOn({});
      const session = await open(scene, id);
      expect(await exec(scene, session, 'echo a')).toMatchObject({ stdout: 'a\n', exit_code: 0, session_ended: false });
      expect(await exec(scene, session, 'exit 7')).toMatchObject({ exit_code: 7, session_ended: true });
      const closed = await get(scene, session);
      expect(closed).toMatchObject({ status: 'SESSION_CLOSED', status_reason: 'its shell ended with exit code 7' });
      expect(closed.closed_at).toBeGreaterThanOrEqual(closed.created_at);
      await expectRefusal(exec(scene, session, 'true'), 'FAILED_PRECONDITION', 'its shell ended with exit code 7');
    },
  },
  {
    name: 'has a new shell after a timeout, and the next answer says so',
    async run(scene) {
      const { id } = await scene.sandboxOn({});
      const session = await open(scene, id);
      await expectRefusal(exec(scene, session, 'sleep 30', { timeout: 1 }), 'DEADLINE_EXCEEDED', '1000 ms');
      expect(await exec(scene, session, 'echo new')).toMatchObject({ stdout: 'new\n', session_reset: true });
      expect(await exec(scene, session, 'echo again')).toMatchObject({ stdout: 'again\n', session_reset: false });
    },
  },
  {
    name: 'ends when its sandbox is stopped',
    async run(scene) {
      const { id: sandbox_id } = await scene.sandboxOn({});
      const session = await open(scene, sandbox_id);
      await scene.client.call('StopSandbox', { sandbox_id });
      expect(await get(scene, session)).toMatchObject({
        status: 'SESSION_CLOSED',
        status_reason: 'the sandbox was stopped',
      });
      await expectRefusal(exec(scene, session, 'true'), 'FAILED_PRECONDITION', 'the sandbox was stopped');
      await expectRefusal(open(scene, sandbox_id), 'FAILED_PRECONDITION');
      await scene.client.call('StartSandbox', { sandbox_id });
      await expectRefusal(exec(scene, session, 'true'), 'FAILED_PRECONDITION', 'the sandbox was stopped');
    },
  },
  {
    name: 'is refused above limits.sessions',
    async run(scene) {
      const { id } = await scene.sandboxOn({});
      const session = await open(scene, id);
      for (let count = 1; count < 4; count++) await open(scene, id);
      await expectRefusal(open(scene, id), 'RESOURCE_EXHAUSTED', 'limits.sessions');
      await exec(scene, session, 'exit');
      await open(scene, id);
    },
  },
];

const commands: Case[] = [
  {
    name: 'keeps directory, variables, functions and background jobs, and has stdout and stderr apart',
    async run(scene) {
      const { id } = await scene.sandboxOn({ 'src/a': 'text' });
      const session = await open(scene, id, { env: { GREETING: 'hello' } });
      await exec(scene, session, 'cd src; n=1; f() { echo "$GREETING $n"; }; sleep 1000 & job=$!');
      expect(await exec(scene, session, 'pwd; f; cat a; echo e >&2; kill -0 $job; (exit 3)')).toMatchObject({
        stdout: '/workspace/src\nhello 1\ntext',
        stderr: 'e\n',
        exit_code: 3,
        end_reason: 'exited',
      });
      const chunks = [];
      for await (const chunk of scene.client.watch('SessionExecStream', {
        session_id: session.id,
        command: 'echo $?; f; exit 4',
      })) {
        chunks.push(chunk);
      }
      const text = Buffer.concat(chunks.map(({ data }) => data)).toString();
      expect(text).toBe('3\nhello 1\n');
      expect(chunks.at(-1)).toMatchObject({ exit_code: 4, session_ended: true, session_reset: false });
    },
  },
  {
    name: 'runs the commands of one session in order, and drops one whose client leaves while it waits',
    async run(scene) {
      const sandbox = await scene.sandboxOn({});
      const session = await open(scene, sandbox.id);
      const first = exec(scene, session, 'touch started; while [ ! -e go ]; do sleep 0.02; done; echo 1 >>order');
      await scene.output(sandbox, 'while [ ! -e started ]; do sleep 0.02; done');
      const leaving = new AbortController();
      const request = { session_id: session.id, command: 'echo dropped >>order' };
      const dropped = scene.client.call('SessionExec', request, leaving.signal).catch(() => 'dropped');
      // By the time of this answer, the server has the command.
      await get(scene, session);
      const later = [2, 3, 4].map((each) => exec(scene, session, `echo ${each} >>order`, { timeout: 2 }));
      leaving.abort();
      expect(await dropped).toBe('dropped');
      await scene.run(sandbox, 'sleep 2.2; touch go');
      await Promise.all([first, ...later]);
      const order = await scene.output(sandbox, 'cat order');
      expect(order.split('\n').filter(Boolean).toSorted()).toEqual(['1', '2', '3', '4']);
      expect(order.startsWith('1\n')).toBe(true);
    },
  },
  {
    name: 'kills everything in it when it is destroyed, and when a client leaves',
    async run(scene) {
      const sandbox = await scene.sandboxOn({});
      const session = await open(scene, sandbox.id);
      const left = async () =>
        (
          await scene.output(sandbox, "cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -o 'sleep 4[3]21' | wc -l")
        ).trim();
      await exec(scene, session, 'setsid sleep 4321 & (sh -c "(sleep 4321 &) &" &)');
      await eventually('both run', async () => (await left()) === '2');
      const leaving = new AbortController();
      const request = { session_id: session.id, command: 'sleep 4321' };
      const left1 = scene.client.call('SessionExec', request, leaving.signal).catch(() => 'left');
      await eventually('it runs', async () => (await left()) === '3');
      leaving.abort();
      expect(await left1).toBe('left');
      await eventually('nothing is left', async () => (await left()) === '0');
      expect(await exec(scene, session, 'setsid sleep 4321 & echo')).toMatchObject({ session_reset: true });
      await scene.client.call('DestroySession', { session_id: session.id });
      expect(await left()).toBe('0');
    },
  },
  {
    name: 'takes the shell that is named, and refuses one that the sandbox has not',
    async run(scene) {
      const { id } = await scene.sandboxOn({});
      expect(await open(scene, id, { shell: '/bin/sh' })).toMatchObject({ shell: '/bin/sh' });
      await expectRefusal(open(scene, id, { shell: 'nosuchsh' }), 'FAILED_PRECONDITION', '"nosuchsh" cannot be');
      await expectRefusal(open(scene, id, { shell: 'a b' }), 'INVALID_ARGUMENT', 'shell');
      await expectRefusal(exec(scene, await open(scene, id), 'a\0b'), 'INVALID_ARGUMENT', 'command');
    },
  },
  {
    name: 'ends when its sandbox is rolled back',
    async run(scene) {
      const { id: sandbox_id } = await scene.sandboxOn({});
      await scene.client.call('CreateCheckpoint', { sandbox_id, name: 'start' });
      const session = await open(scene, sandbox_id);
      await scene.client.call('Rollback', { sandbox_id, checkpoint: 'start' });
      const status_reason = 'its sandbox was rolled back to the checkpoint start';
      expect(await get(scene, session)).toMatchObject({ status: 'SESSION_CLOSED', status_reason });
    },
  },
  {
    name: 'commits after each command with auto_commit on_exec',
    async run(scene) {
      const codebase = await scene.codebase({});
      const { id } = await scene.sandbox(codebase, undefined, { auto_commit: 'on_exec' });
      const session = await open(scene, id);
      await exec(scene, session, 'echo text >file');
      expect(await scene.content(codebase, 'file')).toBe('text\n');
    },
  },
];

contract('sessions', [...everywhere(anywhere), ...commands], {
  limits: { sessions: 4 },
});
