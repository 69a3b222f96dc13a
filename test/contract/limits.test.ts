import { expect } from 'vitest';
import type { Sandbox } from '../../lib/contract/messages.ts';
import { eventually, expectRefusal, refusal } from './scene.ts';
import { type Case, contract, everywhere, onBothFormats, REAL } from './suite.ts';

const perUser: Case[] = [
  {
    name: 'refuses sandboxes above max_per_user, also of concurrent requests',
    async run(scene) {
      const codebase = await scene.codebase({});
      const outcomes = await Promise.allSettled(Array.from({ length: 12 }, () => scene.sandbox(codebase)));
      const refused = outcomes.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
      expect(refused).toHaveLength(9);
      for (const error of refused) expect(error).toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
      expect(refused[0].message).toMatch(/\b3\b/);
    },
  },
  {
    name: 'counts the sandboxes of an owner over all codebases',
    async run(scene) {
      const [one, two] = [await scene.codebase({}), await scene.codebase({})];
      for (const codebase of [one, two, one]) await scene.sandbox(codebase);
      await expectRefusal(scene.sandbox(two), 'RESOURCE_EXHAUSTED');
      await scene.sandbox(await scene.codebase({}, `${scene.owner}-other`));
    },
  },
  {
    name: 'counts stopped sandboxes, but not destroyed ones',
    async run(scene) {
      const codebase = await scene.codebase({});
      const [first, second] = [
        await scene.sandbox(codebase),
        await scene.sandbox(codebase),
        await scene.sandbox(codebase),
      ];
      await scene.client.call('StopSandbox', { sandbox_id: first?.id });
      await expectRefusal(scene.sandbox(codebase), 'RESOURCE_EXHAUSTED');
      await scene.client.call('DestroySandbox', { sandbox_id: second?.id });
      await scene.sandbox(codebase);
    },
  },
  {
    name: 'does not count a create that failed',
    async run(scene) {
      const codebase = await scene.codebase({});
      for (let count = 0; count < 6; count++) await refusal(scene.sandbox(codebase, [], { expires_in: -1 }));
      for (let count = 0; count < 3; count++) await scene.sandbox(codebase);
    },
  },
];

const expiry: Case[] = [
  {
    name: 'ends sandboxes that expired or were idle at the next check, stops counting them, and names the reason',
    async run(scene) {
      const codebase = await scene.codebase({});
      const expired = await scene.sandbox(codebase, [], { expires_in: 1 });
      const idle = await scene.sandbox(codebase, [], { idle_timeout: 1, on_idle: 'destroy' });
      const stopped = await scene.sandbox(codebase, [], { idle_timeout: 1 });
      expect([idle, stopped]).toMatchObject([
        { idle_timeout: 1, on_idle: 'destroy' },
        { idle_timeout: 1, on_idle: 'stop' },
      ]);
      await eventually('the end of the sandboxes', async () => {
        const { sandboxes } = await scene.client.call('ListSandboxes', { codebase_id: codebase.id });
        const left = sandboxes.map(({ id, status }) => `${id} ${status}`);
        return left.join() === `${stopped.id} SANDBOX_STOPPED`;
      });
      const refusals = [
        [
          expired,
          / no longer exists: it expired at 20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ \(expires_at\) and was destroyed$/,
        ],
        [
          idle,
          / no longer exists: it was idle since 20\S+Z and was destroyed at 20\S+Z \(idle_timeout, on_idle "destroy"\)$/,
        ],
      ] as const;
      for (const [{ id: sandbox_id }, reason] of refusals) {
        for (const operation of ['GetSandbox', 'DestroySandbox'] as const) {
          const error = await expectRefusal(scene.client.call(operation, { sandbox_id }), 'NOT_FOUND', reason);
          expect(error.message).toContain(sandbox_id);
          expect(error.details).toEqual([
            { reason: expect.any(String), since: expect.any(Number), destroyed_at: expect.any(Number) },
            expect.objectContaining({ resourceType: 'sandbox', resourceName: sandbox_id }),
          ]);
        }
      }
      for (let count = 0; count < 2; count++) await scene.sandbox(codebase);
    },
  },
  {
    name: 'keeps an expired sandbox with uncommitted changes, stopped, until it gets a new lifetime',
    runtimes: REAL,
    async run(scene) {
      const codebase = await scene.codebase({ a: 'one' });
      const [kept, committed, dropped] = await Promise.all(
        [{}, {}, { on_expire: 'destroy' }].map((fields) => scene.sandbox(codebase, undefined, fields)),
      );
      expect([kept, dropped]).toMatchObject([
        { on_expire: 'keep_changes', destroy_at: 0 },
        { on_expire: 'destroy', destroy_at: 0 },
      ]);
      for (const each of [committed!, kept!, dropped!]) {
        await scene.output(each, `mkdir -p d/e; echo ${each.id} > d/e/f; rm -f a`);
        if (each === committed) await scene.client.call('Commit', { sandbox_id: each.id });
      }
      await Promise.all(
        [kept!, committed!, dropped!].map(({ id }) =>
          scene.client.call('UpdateSandbox', { sandbox_id: id, expires_in: 1 }),
        ),
      );
      await eventually('the end of the sandboxes', async () => {
        const { sandboxes } = await scene.client.call('ListSandboxes', { codebase_id: codebase.id });
        return sandboxes.map(({ id, status }) => `${id} ${status}`).join() === `${kept!.id} SANDBOX_STOPPED`;
      });
      const sandbox_id = kept!.id;
      const shown = await scene.client.call('GetSandbox', { sandbox_id });
      expect(shown.expires_soon).toBe(true);
      // From the stop on, which comes after the expiry.
      expect(shown.destroy_at - shown.expires_at).toBeGreaterThanOrEqual(7 * 24 * 3600);
      expect(shown.destroy_at - shown.expires_at).toBeLessThan(8 * 24 * 3600);
      await expectRefusal(scene.client.call('StartSandbox', { sandbox_id }), 'FAILED_PRECONDITION', /UpdateSandbox/);
      await scene.client.call('UpdateSandbox', { sandbox_id, expires_in: 7200 });
      expect(await scene.client.call('StartSandbox', { sandbox_id })).toMatchObject({
        status: 'SANDBOX_RUNNING',
        expires_soon: false,
        destroy_at: 0,
      });
      expect(await scene.output(kept!, 'cat d/e/f')).toBe(`${sandbox_id}\n`);
    },
  },
  {
    name: 'does not end an idle sandbox during a stream or an upload, and commits its changes when it stops it',
    runtimes: ['bwrap'],
    protocols: ['rest'],
    async run(scene) {
      const other = await scene.codebase({});
      const update = (sandbox: Sandbox) => ({ sandbox_id: sandbox.id, idle_timeout: 1 });
      const busy = [];
      for (const client of [scene.rest, scene.grpc]) {
        const codebase = await scene.codebase({}, `${scene.owner}-${client.protocol}`);
        const [streaming, storing] = [
          await scene.sandbox(codebase, undefined, { auto_commit: 'on_stop' }),
          await scene.sandbox(codebase),
        ];
        const command = 'echo started; while [ ! -e go ]; do sleep 0.05; done; echo done > out';
        const stream = client
          .watch('ExecStream', { sandbox_id: streaming.id, command, timeout: 60 })
          [Symbol.asyncIterator]();
        expect(Buffer.from((await stream.next()).value?.data ?? '').toString()).toBe('started\n');
        let release = () => {};
        const released = new Promise<void>((resolve) => {
          release = resolve;
        });
        const stored = client.write('WriteFile', { sandbox_id: storing.id, path: 'f' }, parts(released));
        for (const sandbox of [streaming, storing]) await client.call('UpdateSandbox', update(sandbox));
        busy.push({ client, codebase, streaming, storing, stream, release, stored });
      }
      const statuses = async (status: string) => {
        const { sandboxes } = await scene.client.call('ListSandboxes', { status });
        return sandboxes.map(({ id }) => id);
      };
      // Idle for as long as the others from here on.
      const idle = await scene.sandbox(other, [], { idle_timeout: 1 });
      await eventually('the stop of the idle sandbox', async () =>
        (await statuses('SANDBOX_STOPPED')).includes(idle.id),
      );
      const running = await statuses('SANDBOX_RUNNING');
      for (const { client, streaming, storing, stream, release, stored } of busy) {
        expect(running).toEqual(expect.arrayContaining([streaming.id, storing.id]));
        release();
        expect((await stored).size).toBe(2);
        await client.write('WriteFile', { sandbox_id: streaming.id, path: 'go' }, '');
        expect((await stream.next()).value).toMatchObject({ exit_code: 0 });
      }
      for (const { client, codebase, streaming, storing } of busy) {
        await eventually('the stop of both sandboxes', async () => {
          const stopped = await statuses('SANDBOX_STOPPED');
          return stopped.includes(streaming.id) && stopped.includes(storing.id);
        });
        // Answers when the stop in progress has committed.
        await client.call('StopSandbox', { sandbox_id: streaming.id });
        expect(await scene.content(codebase, 'out')).toBe('done\n');
        await expectRefusal(scene.run(streaming, 'true'), 'FAILED_PRECONDITION', /is stopped$/);
      }
    },
  },
];

/** Two bytes, the second after `release`. */
async function* parts(release: Promise<void>): AsyncGenerator<Uint8Array, void, void> {
  yield Buffer.from('a');
  await release;
  yield Buffer.from('b');
}

const GROWING = /^the codebase would hold \d+ bytes, the most is 1048576 \(storage\.max_codebase_bytes\)/;
const TOO_MANY = /^the codebase would hold \d+ files and directories, the most is 20 \(storage\.max_codebase_files\)/;

const quota: Case[] = [
  {
    name: 'refuses an upload above storage.max_codebase_bytes or max_codebase_files, and leaves nothing of it',
    async run(scene) {
      const { id } = await scene.codebase({});
      await scene.client.upload(id, 'a', Buffer.alloc(1_000_000));
      await expectRefusal(scene.client.upload(id, 'b', Buffer.alloc(100_000)), 'RESOURCE_EXHAUSTED', GROWING);
      await expectRefusal(scene.client.upload(id, 'a', Buffer.alloc(3_000_000)), 'RESOURCE_EXHAUSTED', GROWING);
      await scene.client.upload(id, 'a', Buffer.alloc(1_048_576));
      await expectRefusal(scene.client.upload(id, `${'d/'.repeat(19)}f`, ''), 'RESOURCE_EXHAUSTED', TOO_MANY);
      expect(await scene.client.call('GetCodebase', { codebase_id: id })).toMatchObject({
        file_count: 1,
        total_size: 1_048_576,
      });
      await scene.client.upload(id, 'a', Buffer.alloc(900_000));
      await scene.client.upload(id, 'b', Buffer.alloc(100_000));
    },
  },
  {
    name: 'refuses a commit above storage.max_codebase_bytes or max_codebase_files, and changes nothing',
    runtimes: REAL,
    hasSandboxes: true,
    async run(scene) {
      const codebase = await scene.codebase({ old: 'old\n' });
      const sandbox = await scene.sandbox(codebase);
      const commit = () => scene.client.call('Commit', { sandbox_id: sandbox.id });
      await scene.output(sandbox, 'rm old; head -c 1048577 /dev/zero > big');
      await expectRefusal(commit(), 'RESOURCE_EXHAUSTED', GROWING);
      expect(await scene.content(codebase, 'old')).toBe('old\n');
      await scene.output(sandbox, 'rm big; mkdir $(seq 21)');
      await expectRefusal(commit(), 'RESOURCE_EXHAUSTED', TOO_MANY);
      await scene.output(sandbox, 'rmdir 21; head -c 1048576 /dev/zero > 20/big; rmdir 19');
      await commit();
      await scene.output(sandbox, 'rm 20/big');
      await commit();
      await scene.client.upload(codebase.id, 'new', Buffer.alloc(1_048_576));
    },
  },
  {
    name: 'reports an automatic commit that the quota of the codebase refuses, and commits once there is room',
    runtimes: REAL,
    hasSandboxes: true,
    async run(scene) {
      const codebase = await scene.codebase({});
      const sandbox = await scene.sandbox(codebase, undefined, { auto_commit: 'on_exec' });
      const told = async () => (await scene.client.call('GetSandbox', { sandbox_id: sandbox.id })).auto_commit_error;
      for (const name of ['a', 'b', 'c']) await scene.output(sandbox, `head -c 400000 /dev/zero > ${name}`);
      await eventually('the refusal', async () => GROWING.test(await told()));
      expect(await scene.client.call('GetCodebase', { codebase_id: codebase.id })).toMatchObject({ file_count: 2 });
      await scene.output(sandbox, 'rm a');
      await eventually('the commit', async () => (await told()) === '');
      expect(await scene.client.call('GetCodebase', { codebase_id: codebase.id })).toMatchObject({ file_count: 2 });
    },
  },
];

const QUOTAS = { storage: { max_codebase_bytes: '1MiB', max_codebase_files: 20 } };

const late: Case[] = [
  {
    name: 'refuses Exec from the moment a sandbox expires, before any check',
    async run(scene) {
      const sandbox = await scene.sandboxOn({}, undefined, { expires_in: 1 });
      const error = await eventually('a refusal', () =>
        scene.run(sandbox, 'true', { timeout: 1 }).then(
          () => undefined,
          // Before it expires, a busy host may be late.
          (thrown: { code: string; message: string }) => (thrown.code === 'DEADLINE_EXCEEDED' ? undefined : thrown),
        ),
      );
      expect(error).toMatchObject({ code: 'FAILED_PRECONDITION', message: expect.stringMatching(/expired/) });
      expect((await scene.client.call('GetSandbox', { sandbox_id: sandbox.id })).id).toBe(sandbox.id);
    },
  },
  {
    name: 'never expires a sandbox without expires_in if default_expiration is 0s',
    async run(scene) {
      expect((await scene.sandboxOn({})).expires_at).toBe(0);
      const asked = await scene.sandboxOn({}, undefined, { expires_in: 60 });
      expect(asked.expires_at).toBe(asked.created_at + 60);
    },
  },
  {
    name: 'applies default_timeout and max_timeout of the configuration',
    runtimes: REAL,
    async run(scene) {
      const sandbox = await scene.sandboxOn({});
      const command = { sandbox_id: sandbox.id, command: 'sleep 30' };
      await expectRefusal(scene.client.call('Exec', command), 'DEADLINE_EXCEEDED');
      await expectRefusal(scene.client.call('Exec', { ...command, timeout: 3 }), 'INVALID_ARGUMENT', /timeout.*\b2/);
    },
  },
];

contract('max_per_user and expiry', everywhere([...perUser, ...expiry]), {
  ...QUOTAS,
  sandbox: { max_per_user: 3, cleanup_interval: '300ms' },
});
onBothFormats('codebase quotas', everywhere(quota), QUOTAS);
contract('expiry without a check, and timeouts', everywhere(late), {
  sandbox: { cleanup_interval: '1h', default_expiration: '0s' },
  runtime: { default_timeout: '700ms', max_timeout: '2s' },
});
