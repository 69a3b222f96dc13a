import { expect } from 'vitest';
import type { Sandbox } from '../../lib/contract/messages.ts';
import { read, write } from './rules.ts';
import { eventually, expectRefusal } from './scene.ts';
import { type Case, contract, everywhere, REAL } from './suite.ts';

const NO_LIMITS = { memory_bytes: 0, cpu_quota: 0, cpu_shares: 0, pids_limit: 0 };

const lifeCycle: Case[] = [
  {
    name: 'creates a RUNNING sandbox with the requested attributes',
    async run(scene) {
      const codebase = await scene.codebase({});
      const before = Math.floor(Date.now() / 1000);
      const permissions = [read('**'), write('out/', 5)];
      const labels = { team: 'a', 'key with spaces': '' };
      const sandbox = await scene.sandbox(codebase, permissions, { labels, expires_in: 3600 });
      const after = Math.ceil(Date.now() / 1000);
      expect(sandbox).toMatchObject({
        id: expect.stringMatching(/^sb_[A-Za-z0-9_-]{16,}$/),
        codebase_id: codebase.id,
        status: 'SANDBOX_RUNNING',
        permissions,
        labels,
        runtime: `RUNTIME_${scene.runtime.toUpperCase()}`,
        image: scene.runtime === 'docker' ? expect.stringMatching(/./) : '',
      });
      expect(sandbox.created_at).toBeGreaterThanOrEqual(before);
      expect(sandbox.created_at).toBeLessThanOrEqual(after);
      expect(sandbox.expires_at).toBe(sandbox.created_at + 3600);
      expect(await scene.client.call('GetSandbox', { sandbox_id: sandbox.id })).toEqual({ ...sandbox, warnings: [] });
    },
  },
  {
    name: 'applies the defaults to a sandbox request without options',
    async run(scene) {
      const sandbox = await scene.sandbox(await scene.codebase({}), [], {});
      expect(sandbox).toMatchObject({ permissions: [], labels: {}, status: 'SANDBOX_RUNNING' });
      expect(sandbox.expires_at).toBe(sandbox.created_at + 24 * 3600);
    },
  },
  {
    name: 'checks a request without creating a sandbox',
    async run(scene) {
      const { id: codebase_id } = await scene.codebase({});
      const request = { codebase_id, labels: { team: 'a' }, validate_only: true };
      const checked = await scene.client.call('CreateSandbox', request);
      expect(checked).toMatchObject({ id: '', status: 'SANDBOX_PENDING', labels: { team: 'a' } });
      const wrong = scene.client.call('CreateSandbox', { ...request, preset: 'no-such' });
      await expectRefusal(wrong, 'INVALID_ARGUMENT', /^preset/);
      expect((await scene.client.call('ListSandboxes', { codebase_id })).sandboxes).toEqual([]);
    },
  },
  {
    name: 'shows the workspace at a second path, which a container has not',
    async run(scene) {
      const codebase = await scene.codebase({ a: 'a' });
      const more = { workspace_path: '/home/ann/project' };
      if (scene.runtime !== 'bwrap') {
        const problem = /^workspace_path is for sandboxes of the runtime bwrap without an image$/;
        const asked = scene.client.call('CreateSandbox', { codebase_id: codebase.id, ...more });
        await expectRefusal(asked, 'INVALID_ARGUMENT', problem);
        return;
      }
      const { id, ...sandbox } = await scene.sandbox(codebase, [read('**')], more);
      expect(sandbox).toMatchObject({ ...more, read_only_paths: [] });
      const { stdout } = await scene.client.call('Exec', { sandbox_id: id, command: 'cat /home/ann/project/a' });
      expect(stdout).toBe('a');
    },
  },
  {
    name: 'refuses paths of the host that the configuration does not permit',
    async run(scene) {
      const codebase = await scene.codebase({});
      const asked = { codebase_id: codebase.id, runtime: 'RUNTIME_BWRAP', read_only_paths: ['/opt'] };
      const problem =
        /^read_only_paths\[0\] must be at or below one of the server's runtime\.mountable_paths, which are none$/;
      await expectRefusal(scene.client.call('CreateSandbox', asked), 'INVALID_ARGUMENT', problem);
    },
  },
  {
    name: 'creates ids that sort by creation time',
    async run(scene) {
      const codebase = await scene.codebase({});
      const ids = [];
      for (let count = 0; count < 5; count++) ids.push((await scene.sandbox(codebase)).id);
      expect([...ids].sort()).toEqual(ids);
      expect(codebase.id).toMatch(/^cb_[A-Za-z0-9_-]{16,}$/);
    },
  },
  {
    name: 'lists the sandboxes of one codebase',
    async run(scene) {
      const [one, other] = [await scene.codebase({}), await scene.codebase({})];
      const mine = [await scene.sandbox(one), await scene.sandbox(one)];
      await scene.sandbox(other);
      const { sandboxes, next_page_token } = await scene.client.call('ListSandboxes', { codebase_id: one.id });
      expect({ sandboxes, next_page_token }).toEqual({ sandboxes: mine.reverse(), next_page_token: '' });
    },
  },
  {
    name: 'lists all sandboxes if no codebase is given',
    async run(scene) {
      const mine = [await scene.sandboxOn({}), await scene.sandboxOn({})];
      const { sandboxes } = await scene.client.call('ListSandboxes', {});
      const ids = sandboxes.map(({ id }) => id);
      expect(ids).toEqual(expect.arrayContaining(mine.map(({ id }) => id)));
    },
  },
  {
    name: 'lists each sandbox once, the newest first, page by page, also if others come and go between pages',
    async run(scene) {
      const codebase = await scene.codebase({});
      const all: Sandbox[] = [];
      for (let count = 0; count < 5; count++) all.push(await scene.sandbox(codebase));
      const sizes = [];
      const seen: Sandbox[] = [];
      let page_token = '';
      do {
        const request = { codebase_id: codebase.id, page_size: 2, page_token };
        const page = await scene.client.call('ListSandboxes', request);
        sizes.push(page.sandboxes.length);
        seen.push(...page.sandboxes);
        page_token = page.next_page_token;
        if (seen.length !== 2) continue;
        await scene.sandbox(codebase);
        await scene.client.call('DestroySandbox', { sandbox_id: seen[1]?.id });
      } while (page_token !== '');
      expect(sizes).toEqual([2, 2, 1]);
      expect(seen).toEqual(all.reverse());
    },
  },
  {
    name: 'lists the sandboxes that have a status and all named labels',
    async run(scene) {
      const codebase = await scene.codebase({});
      const labels = { team: 'a', 'app.example/name': 'x=y&z' };
      const both = await scene.sandbox(codebase, [], { labels });
      const one = await scene.sandbox(codebase, [], { labels: { team: 'a' } });
      await scene.client.call('StopSandbox', { sandbox_id: one.id });
      const found = async (filter: object) => {
        const page = await scene.client.call('ListSandboxes', { codebase_id: codebase.id, ...filter });
        return page.sandboxes.map(({ id }) => id);
      };
      expect(await found({ labels: { team: 'a' } })).toEqual([one.id, both.id]);
      expect(await found({ labels })).toEqual([both.id]);
      expect(await found({ labels: { team: 'b' } })).toEqual([]);
      expect(await found({ status: 'SANDBOX_STOPPED' })).toEqual([one.id]);
      expect(await found({ status: 'SANDBOX_RUNNING', labels: { team: 'a' } })).toEqual([both.id]);
      expect(await found({ status: 'SANDBOX_PENDING' })).toEqual([]);
      expect(await found({ owner_id: scene.owner, status: 'SANDBOX_RUNNING' })).toEqual([both.id]);
      expect(await found({ owner_id: `${scene.owner}-other` })).toEqual([]);
    },
  },
  {
    name: 'updates labels and lifetime of a sandbox, and nothing that the request does not name',
    async run(scene) {
      const labels = { team: 'a', old: 'x', 'key with spaces': '' };
      const sandbox = await scene.sandboxOn({}, undefined, { labels, expires_in: 600 });
      const update = (fields: object) => scene.client.call('UpdateSandbox', { sandbox_id: sandbox.id, ...fields });
      const relabelled = { ...sandbox, labels: { team: 'b', 'key with spaces': '', new: 'y' } };
      expect(await update({ labels: { team: 'b', new: 'y' }, remove_labels: ['old', 'absent'] })).toEqual(relabelled);
      expect(await update({})).toEqual(relabelled);
      const before = Math.floor(Date.now() / 1000);
      const { expires_at, ...rest } = await update({ expires_in: 7200 });
      expect({ ...rest, expires_at: sandbox.expires_at }).toEqual({ ...relabelled, expires_soon: false });
      expect(expires_at).toBeGreaterThanOrEqual(before + 7200);
      expect(expires_at).toBeLessThanOrEqual(Math.ceil(Date.now() / 1000) + 7200);
      expect((await update({ expires_in: 0 })).expires_at).toBeGreaterThanOrEqual(before + 24 * 3600);
      await scene.client.call('StopSandbox', { sandbox_id: sandbox.id });
      const stopped = await update({ clear_labels: true, labels: { only: 'this' } });
      expect(stopped).toMatchObject({ status: 'SANDBOX_STOPPED', labels: { only: 'this' } });
      expect(await scene.client.call('GetSandbox', { sandbox_id: sandbox.id })).toEqual(stopped);
    },
  },
  {
    name: 'refuses an update as a whole, and changes nothing',
    async run(scene) {
      const sandbox = await scene.sandboxOn({}, undefined, { labels: { team: 'a' } });
      const update = (fields: object) => scene.client.call('UpdateSandbox', { sandbox_id: sandbox.id, ...fields });
      const many = Object.fromEntries(Array.from({ length: 64 }, (_, index) => [`l${index}`, '']));
      await expectRefusal(update({ labels: many, expires_in: 9 }), 'INVALID_ARGUMENT', /^labels .* at most 64 labels/);
      await expectRefusal(update({ labels: { a: 'b' }, expires_in: -1 }), 'INVALID_ARGUMENT', /^expires_in /);
      const both = { labels: { a: 'b' }, remove_labels: ['a'], expires_in: 9 };
      await expectRefusal(update(both), 'INVALID_ARGUMENT', /^remove_labels must not have "a", which is in labels$/);
      expect(await scene.client.call('GetSandbox', { sandbox_id: sandbox.id })).toEqual({ ...sandbox, warnings: [] });
    },
  },
  {
    name: 'reads a JSON merge patch over REST, in which null removes',
    protocols: ['rest'],
    runtimes: ['mock'],
    async run(scene) {
      const sandbox = await scene.sandboxOn({}, undefined, { labels: { team: 'a', old: 'x' } });
      const patch = async (body: string, type: string) => {
        const headers = { 'content-type': type };
        return JSON.parse(
          (await scene.rest.send('PATCH', `/v1/sandboxes/${sandbox.id}`, { body, headers })).body.toString(),
        );
      };
      const merged = await patch('{"labels": {"old": null, "new": "y"}}', 'application/merge-patch+json');
      expect(merged).toEqual({ ...sandbox, warnings: [], labels: { team: 'a', new: 'y' } });
      expect((await patch('{"labels": null}', 'application/json')).labels).toEqual({});
      const jsonPatch = '[{"op": "add", "path": "/labels/a", "value": "b"}]';
      expect(await patch(jsonPatch, 'application/json-patch+json')).toMatchObject({
        code: 3,
        message: 'the request body must be a JSON object',
      });
    },
  },
  {
    name: 'stops and starts a sandbox, and both can be repeated',
    async run(scene) {
      const sandbox = await scene.sandboxOn({});
      const request = { sandbox_id: sandbox.id };
      expect((await scene.client.call('StartSandbox', request)).status).toBe('SANDBOX_RUNNING');
      expect((await scene.client.call('StopSandbox', request)).status).toBe('SANDBOX_STOPPED');
      expect((await scene.client.call('StopSandbox', request)).status).toBe('SANDBOX_STOPPED');
      expect((await scene.client.call('GetSandbox', request)).status).toBe('SANDBOX_STOPPED');
      expect((await scene.client.call('StartSandbox', request)).status).toBe('SANDBOX_RUNNING');
      expect((await scene.client.call('GetSandbox', request)).status).toBe('SANDBOX_RUNNING');
    },
  },
  {
    name: 'serializes concurrent starts and stops into one final state',
    async run(scene) {
      const sandbox = await scene.sandboxOn({});
      const request = { sandbox_id: sandbox.id };
      const turns = Array.from({ length: 6 }, (_, index) =>
        index % 2 === 0 ? ('StopSandbox' as const) : ('StartSandbox' as const),
      );
      const answers = await Promise.all(turns.map((operation) => scene.client.call(operation, request)));
      for (const { status } of answers) expect(['SANDBOX_RUNNING', 'SANDBOX_STOPPED']).toContain(status);
      await scene.client.call('StartSandbox', request);
      expect((await scene.client.call('GetSandbox', request)).status).toBe('SANDBOX_RUNNING');
    },
  },
  {
    name: 'refuses Exec on a stopped sandbox, naming the state',
    async run(scene) {
      const sandbox = await scene.sandboxOn({});
      await scene.client.call('StopSandbox', { sandbox_id: sandbox.id });
      await expectRefusal(scene.run(sandbox, 'true'), 'FAILED_PRECONDITION', 'is stopped');
    },
  },
  {
    name: 'destroys a running and a stopped sandbox, which are then NOT_FOUND',
    async run(scene) {
      for (const stopped of [false, true]) {
        const sandbox = await scene.sandboxOn({});
        const request = { sandbox_id: sandbox.id };
        if (stopped) await scene.client.call('StopSandbox', request);
        expect(await scene.client.call('DestroySandbox', request)).toEqual({});
        for (const operation of [
          'GetSandbox',
          'UpdateSandbox',
          'StartSandbox',
          'StopSandbox',
          'DestroySandbox',
        ] as const) {
          await expectRefusal(scene.client.call(operation, request), 'NOT_FOUND', sandbox.id);
        }
        await expectRefusal(scene.run(sandbox, 'true'), 'NOT_FOUND', sandbox.id);
        const left = await scene.client.call('ListSandboxes', { codebase_id: sandbox.codebase_id });
        expect(left.sandboxes).toEqual([]);
      }
    },
  },
  {
    name: 'destroys a sandbox once for ten concurrent requests',
    async run(scene) {
      const sandbox = await scene.sandboxOn({});
      const calls = Array.from({ length: 10 }, () => scene.client.call('DestroySandbox', { sandbox_id: sandbox.id }));
      const outcomes = await Promise.allSettled(calls);
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      for (const each of outcomes) if (each.status === 'rejected') expect(each.reason.code).toBe('NOT_FOUND');
    },
  },
  {
    name: 'StopSandbox ends every process of a sandbox and keeps its files',
    runtimes: REAL,
    async run(scene) {
      const sandbox = await scene.sandboxOn({ 'a.txt': 'old' });
      const request = { sandbox_id: sandbox.id };
      await scene.output(
        sandbox,
        "echo new > a.txt; mkdir d; echo x > d/b.txt; trap '' TERM; setsid sleep 7100 >/dev/null 2>&1 &",
      );
      await scene.client.call('StopSandbox', request);
      await scene.client.call('StartSandbox', request);
      expect(await scene.output(sandbox, 'cat a.txt d/b.txt; grep -la "slee[p].7100" /proc/[0-9]*/cmdline; true')).toBe(
        'new\nx\n',
      );
    },
  },
  {
    name: 'ends a running command when its sandbox is stopped or destroyed',
    runtimes: REAL,
    async run(scene) {
      for (const operation of ['StopSandbox', 'DestroySandbox'] as const) {
        const sandbox = await scene.sandboxOn({});
        const call = scene.run(sandbox, 'touch started; sleep 60').then(
          () => 'an answer',
          (error: { code: string }) => error.code,
        );
        await eventually(
          'the command at work',
          async () => (await scene.run(sandbox, 'test -e started')).exit_code === 0,
        );
        await scene.client.call(operation, { sandbox_id: sandbox.id });
        expect(await call).toMatch(/^(an answer|UNAVAILABLE|FAILED_PRECONDITION|CANCELLED|ABORTED|NOT_FOUND)$/);
      }
    },
  },
  {
    name: 'a sandbox whose processes die is in SANDBOX_ERROR with the reason, and StartSandbox restarts it with its files',
    runtimes: ['bwrap'],
    async run(scene) {
      const codebase = await scene.codebase({});
      const before = new Set(scene.state.processes());
      const sandbox = await scene.sandbox(codebase);
      const request = { sandbox_id: sandbox.id };
      await scene.output(sandbox, 'echo kept > f');
      for (const each of scene.state.processes()) if (!before.has(each)) killQuietly(Number(each.split(' ')[1]));
      const dead = await eventually('a sandbox that is ERROR', async () => {
        const shown = await scene.client.call('GetSandbox', request);
        return shown.status === 'SANDBOX_ERROR' ? shown : undefined;
      });
      expect(dead.status_reason).not.toBe('');
      await expectRefusal(scene.run(sandbox, 'true'), 'FAILED_PRECONDITION', 'is in error: ');
      const started = await scene.client.call('StartSandbox', request);
      expect(started).toMatchObject({ status: 'SANDBOX_RUNNING', status_reason: '' });
      expect(await scene.output(sandbox, 'cat f')).toBe('kept\n');
    },
  },
  {
    name: 'enforces pids_limit and memory_bytes',
    runtimes: REAL,
    async run(scene) {
      const resources = { memory_bytes: 64 * 1024 * 1024, cpu_quota: 150_000, cpu_shares: 512, pids_limit: 32 };
      const sandbox = await scene.sandboxOn({}, undefined, { resources });
      expect(sandbox.resources).toEqual(resources);
      const hog = 'python3 -c "x = bytearray(256 * 1024 * 1024); print(len(x))"';
      expect((await scene.run(sandbox, hog)).exit_code).not.toBe(0);
      const forks = 'for i in $(seq 100); do sleep 5 & done';
      const { stderr } = await scene.run(sandbox, forks);
      expect(stderr).toMatch(/[Cc]annot fork|Resource temporarily unavailable/);
      await eventually(
        'a sandbox that works again',
        async () => (await scene.run(sandbox, 'true').catch(() => undefined))?.exit_code === 0,
      );
    },
  },
];

/** One of the processes may have gone with another. */
function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

const refusals: Case[] = [
  {
    name: 'refuses a request without a codebase, and an unknown codebase',
    async run(scene) {
      const create = (request: object) => scene.client.call('CreateSandbox', request);
      await expectRefusal(create({ codebase_id: 'cb_absent' }), 'NOT_FOUND', 'cb_absent');
      await expectRefusal(create({}), 'INVALID_ARGUMENT', 'codebase_id');
    },
  },
  {
    name: 'refuses a pattern that cannot be parsed, naming its index',
    async run(scene) {
      const codebase = await scene.codebase({});
      for (const pattern of ['src/[a', '', 'a\0b', '../up', '{a,b']) {
        const permissions = [read('**'), { ...read('x'), type: 'PATTERN_GLOB', pattern }];
        const call = scene.client.call('CreateSandbox', { codebase_id: codebase.id, permissions });
        await expectRefusal(call, 'INVALID_ARGUMENT', /permissions?\[1\]/);
      }
      expect((await scene.client.call('ListSandboxes', { codebase_id: codebase.id })).sandboxes).toEqual([]);
    },
  },
  {
    name: 'refuses negative limits and times, and more memory than a number represents',
    async run(scene) {
      const codebase = await scene.codebase({});
      const create = (more: object) => scene.client.call('CreateSandbox', { codebase_id: codebase.id, ...more });
      await expectRefusal(create({ expires_in: -1 }), 'INVALID_ARGUMENT', 'expires_in');
      for (const name of Object.keys(NO_LIMITS)) {
        await expectRefusal(create({ resources: { [name]: -1 } }), 'INVALID_ARGUMENT', name);
      }
      const most = 'resources.memory_bytes must be at most 9007199254740991 bytes';
      await expectRefusal(create({ resources: { memory_bytes: 2 ** 53 } }), 'INVALID_ARGUMENT', most);
    },
  },
  {
    name: 'refuses an invalid page size and an invalid page token',
    async run(scene) {
      for (const operation of ['ListSandboxes', 'ListCodebases'] as const) {
        await expectRefusal(scene.client.call(operation, { page_size: -1 }), 'INVALID_ARGUMENT', 'page_size');
        await expectRefusal(scene.client.call(operation, { page_size: 1001 }), 'INVALID_ARGUMENT', 'page_size');
        await expectRefusal(
          scene.client.call(operation, { page_token: 'not-a-token!' }),
          'INVALID_ARGUMENT',
          'page_token',
        );
      }
    },
  },
  {
    name: 'refuses a label filter with an empty key or more than 64 labels',
    async run(scene) {
      const list = (labels: object) => scene.client.call('ListSandboxes', { labels });
      await expectRefusal(list({ '': 'a' }), 'INVALID_ARGUMENT', /^a key of labels must not be empty$/);
      const many = Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`l${index}`, '']));
      await expectRefusal(list(many), 'INVALID_ARGUMENT', /^labels must have at most 64 entries, not 65$/);
    },
  },
  {
    name: 'answers NOT_FOUND, naming the id, for an unknown sandbox',
    async run(scene) {
      const request = { sandbox_id: 'sb_absent' };
      for (const operation of [
        'GetSandbox',
        'UpdateSandbox',
        'StartSandbox',
        'StopSandbox',
        'DestroySandbox',
      ] as const) {
        await expectRefusal(scene.client.call(operation, request), 'NOT_FOUND', 'sb_absent');
      }
      await expectRefusal(scene.client.call('Exec', { ...request, command: 'true' }), 'NOT_FOUND', 'sb_absent');
    },
  },
];

contract('a sandbox', everywhere([...lifeCycle, ...refusals]));
