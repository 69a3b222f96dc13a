import { expect } from 'vitest';
import type { NetworkEvent } from '../../lib/contract/messages.ts';
import { expectRefusal } from './scene.ts';
import { contract, EVERY } from './suite.ts';

/** The image of the containers has no program that asks for names. */
const RUNTIMES = ['bwrap'];
const named = (host: string) => ({ mode: 'allow_list', rules: [{ host }] });
/** Asks for a name; those of this test have no address outside either. */
const ask = (name: string) => `getent ahostsv4 ${name} >/dev/null && echo found || echo none`;

contract('networks', [
  {
    name: 'a sandbox has no network without a policy, and none of RUNTIME_MOCK has one',
    runtimes: EVERY,
    async run(scene) {
      const none = { mode: 'none', rules: [], revision: 0, presets: [] };
      const sandbox = await scene.sandboxOn({});
      expect(sandbox.network).toEqual(none);
      expect(await scene.client.call('GetNetwork', { sandbox_id: sandbox.id })).toEqual(none);
      const asked = scene.sandboxOn({}, undefined, { network: named('a.example') });
      if (scene.runtime === 'mock') await expectRefusal(asked, 'FAILED_PRECONDITION');
      else expect((await asked).network).toMatchObject({ ...named('a.example'), revision: 1 });
    },
  },
  {
    name: 'the network is open while the policy says so, after a start, too',
    async run(scene) {
      const sandbox = await scene.sandboxOn({}, undefined, { network: named('a.example') });
      const at = { sandbox_id: sandbox.id };
      // The proxy, on port 3128.
      const isOpen = async () => (await scene.output(sandbox, 'cat /proc/net/tcp')).includes(':0C38 00000000:0000 0A');
      expect(await isOpen()).toBe(true);
      await scene.client.call('UpdateNetwork', { ...at, mode: 'none' });
      expect(await isOpen()).toBe(false);
      await scene.client.call('UpdateNetwork', { ...at, mode: 'open' });
      await scene.client.call('StopSandbox', at);
      await scene.client.call('StartSandbox', at);
      expect(await isOpen()).toBe(true);
      const { results } = await scene.client.call('Fork', at);
      scene.owns(results[0]!.sandbox!);
      expect(results[0]?.sandbox?.network).toMatchObject({ mode: 'open', revision: 1 });
    },
  },
  {
    name: 'names that no rule allows do not exist, and results name them',
    runtimes: RUNTIMES,
    async run(scene) {
      const network = {
        mode: 'allow_list',
        rules: [{ host: 'Allowed.Example.' }, { host: 'no.allowed.example', action: 'deny' }],
      };
      const sandbox = await scene.sandboxOn({}, undefined, { network });
      const { stdout, denied_hosts } = await scene.run(sandbox, `${ask('evil.example')}; ${ask('no.allowed.example')}`);
      expect(stdout).toBe('none\nnone\n');
      const codes = new Map(denied_hosts.map(({ host, code }) => [host, code]));
      expect(codes.get('evil.example')).toBe('not_allowed');
      expect(codes.get('no.allowed.example')).toBe('denied_by_rule');
      expect((await scene.run(sandbox, 'true')).denied_hosts).toEqual([]);
      const stream = scene.client.watch('ExecStream', { sandbox_id: sandbox.id, command: ask('other.example') });
      let denied: readonly string[] = [];
      for await (const chunk of stream) denied = chunk.denied?.hosts.map(({ host }) => host) ?? denied;
      expect(denied).toContain('other.example');
      const { connections } = await scene.client.call('ListConnections', { sandbox_id: sandbox.id });
      const refusal = { allowed: false, protocol: 'dns', port: 0, rule: -1, count: expect.any(Number) };
      expect(connections.find(({ host }) => host === 'evil.example')).toMatchObject({
        ...refusal,
        code: 'not_allowed',
      });
    },
  },
  {
    name: 'what is refused is an event, until the sandbox is stopped',
    runtimes: RUNTIMES,
    async run(scene) {
      const sandbox = await scene.sandboxOn({}, undefined, { network: named('allowed.example') });
      const watch = (more: object) => scene.client.watch('WatchNetwork', { sandbox_id: sandbox.id, ...more });
      await scene.run(sandbox, ask('before.example'));
      const events = watch({ denied_only: true })[Symbol.asyncIterator]();
      const next = async () => (await events.next()).value as NetworkEvent;
      const first = await next();
      expect(first).toMatchObject({ kind: 'refused', lost: 0, connection: { host: 'before.example', allowed: false } });
      const second = next();
      await scene.run(sandbox, ask('evil.example'));
      expect(await second).toMatchObject({
        connection: { host: 'evil.example', code: 'not_allowed', closed_at: expect.any(Number) },
      });
      const end = next();
      await scene.client.call('StopSandbox', { sandbox_id: sandbox.id });
      expect(await end).toMatchObject({ end: { reason: 'closed' } });
      expect((await events.next()).done).toBe(true);
      for await (const event of watch({ after: first.sequence })) expect(event.end?.reason).toBe('closed');
      await expectRefusal(watch({ after: -1 }), 'INVALID_ARGUMENT');
    },
  },
  {
    name: 'a policy is replaced while the sandbox runs, from then on also for its processes',
    runtimes: RUNTIMES,
    async run(scene) {
      const sandbox = await scene.sandboxOn({});
      const update = (policy: object) => scene.client.call('UpdateNetwork', { sandbox_id: sandbox.id, ...policy });
      const first = await update(named('a.example'));
      expect(first).toMatchObject({ revision: 1, rules: [{ host: 'a.example', action: 'allow' }] });
      expect((await scene.run(sandbox, ask('b.example'))).denied_hosts).toHaveLength(1);
      expect((await scene.run(sandbox, ask('a.example'))).denied_hosts).toEqual([]);
      const second = await update({ mode: 'allow_list', presets: ['pypi'], revision: 1 });
      expect(second.rules.map(({ host, preset }) => [host, preset])).toContainEqual(['pypi.org', 'pypi']);
      expect((await scene.run(sandbox, ask('a.example'))).denied_hosts).toMatchObject([{ host: 'a.example', port: 0 }]);
      expect(await update(second)).toEqual(second);
      await expectRefusal(update({ ...named('a.example'), revision: 1 }), 'ABORTED');
      expect((await update({ mode: 'none' })).revision).toBe(3);
      expect(await scene.run(sandbox, ask('a.example'))).toMatchObject({ stdout: 'none\n', denied_hosts: [] });
      // It is part of the sandbox.
      await update(named('a.example'));
      await scene.client.call('StopSandbox', { sandbox_id: sandbox.id });
      await scene.client.call('StartSandbox', { sandbox_id: sandbox.id });
      expect((await scene.run(sandbox, ask('b.example'))).denied_hosts).toHaveLength(1);
    },
  },
  {
    name: 'a decision is explained; presets are listed; what is wrong in a policy is named',
    runtimes: EVERY,
    async run(scene) {
      const sandbox = await scene.sandboxOn({});
      const { presets } = await scene.client.call('ListNetworkPresets', {});
      expect(presets.find(({ name }) => name === 'npm')?.rules).toContainEqual(
        expect.objectContaining({ host: 'registry.npmjs.org', action: 'allow' }),
      );
      const explained = await scene.client.call('ExplainNetwork', {
        sandbox_id: sandbox.id,
        host: 'A.example',
        port: 22,
      });
      expect(explained).toMatchObject({ allowed: false, code: 'not_allowed', host: 'a.example', beaten: [] });
      const update = async (policy: object) => {
        const call = scene.client.call('UpdateNetwork', { sandbox_id: sandbox.id, ...policy });
        return (await expectRefusal(call, 'INVALID_ARGUMENT')).message;
      };
      expect(await update({ mode: 'open', rules: [{ host: '127.1' }] })).toContain('rules[0].host is an address');
      expect(await update({ mode: 'open', rules: [{ cidr: '169.254.169.254' }] })).toContain('rules[0].cidr exceeds');
      expect(await update({ rules: [] })).toContain('mode is required');
    },
  },
]);
