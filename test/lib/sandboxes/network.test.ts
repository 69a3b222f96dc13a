import { readdirSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { DeniedHost, NetworkEvent, NetworkPolicy as PolicyRequest } from '../../../lib/contract/messages.ts';
import { ServiceError } from '../../../lib/errors.ts';
import { EventLog } from '../../../lib/network/events/event-log.ts';
import { Sequence } from '../../../lib/network/events/sequence.ts';
import type { NetworkPolicy } from '../../../lib/network/policy/policy.ts';
import type { EventCursor, Refusal, SandboxNetworks } from '../../../lib/network/worker/networks.ts';
import type { Networks } from '../../../lib/network-services.ts';
import { createNetworks } from '../../../lib/sandboxes/network/networks.ts';
import { withDenied } from '../../../lib/sandboxes/network/with-denied.ts';
import type { SandboxKeeper } from '../../../lib/sandboxes/sandboxes.ts';
import { createRequest, execRequest, Fixture, forkOf, never } from './fixture.ts';

const CONNECTION = {
  ...{ host: 'a', address: '', port: 443, protocol: 'tls', allowed: true, code: 'allowed', reason: '', count: 1 },
  ...{ sequence: 1, rule: undefined, sent: 1, received: 2, openedAt: 5000, closedAt: undefined },
};

/** The policies that are in force, by sandbox. */
class FakeNetworks implements SandboxNetworks {
  readonly up = new Map<string, { pid: number; policy: NetworkPolicy }>();
  readonly refused: Refusal[] = [];
  readonly listeners = new Set<() => void>();
  readonly log = new EventLog(new Sequence(), () => {
    for (const heard of this.listeners) heard();
  });
  fails: ServiceError | undefined;

  async open(id: string, pid: number, policy: NetworkPolicy): Promise<void> {
    if (this.fails) throw this.fails;
    this.up.set(id, { pid, policy });
  }

  async update(id: string, policy: NetworkPolicy): Promise<void> {
    if (this.fails) throw this.fails;
    this.up.set(id, { ...this.up.get(id)!, policy });
  }

  async close(id: string): Promise<void> {
    this.up.delete(id);
  }

  async connections() {
    return [1, 2, 3].map((sequence) => ({ ...CONNECTION, sequence }));
  }

  async events(_id: string, cursor: EventCursor, deniedOnly: boolean) {
    return this.up.size === 0 ? undefined : this.log.read(cursor, deniedOnly);
  }

  onNews(_id: string, heard: () => void) {
    this.listeners.add(heard);
    return () => this.listeners.delete(heard);
  }

  async refusals(_id: string, since = 0): Promise<Refusal[]> {
    return this.refused.filter(({ sequence }) => sequence > since);
  }

  refuse(host: string, port = 443, at = Date.now()): void {
    const same = { address: '', protocol: 'dns', code: 'not_allowed', reason: 'No.', count: 1 };
    this.refused.push({ sequence: this.refused.length + 1, at, host, port, ...same });
  }
}

let fixture: Fixture;
let fake: FakeNetworks;
let sandboxes: SandboxKeeper;
let networks: Networks;

const rule = { host: 'a.example', cidr: '', ports: [], action: '', methods: [], path_prefix: '', tls: '', preset: '' };
const network: PolicyRequest = { mode: 'allow_list', rules: [rule], revision: 0, presets: [] };
const UPDATE = { rules: [], presets: [], revision: 0 };

async function start(): Promise<void> {
  sandboxes = await fixture.start();
  networks = createNetworks(fixture.context);
}

beforeEach(async () => {
  fixture = new Fixture();
  fake = new FakeNetworks();
  fixture.networks = fake;
  await start();
  await fixture.addCodebase();
});

afterEach(() => fixture.remove());

describe('the network of a sandbox', () => {
  it('is open when it is created, and while it runs', async () => {
    const { id, network: shown } = await sandboxes.create(createRequest({ network }));
    expect(shown).toMatchObject({
      mode: 'allow_list',
      rules: [{ ...rule, action: 'allow' }],
      revision: 1,
      presets: [],
    });
    expect(fake.up.get(id)).toMatchObject({ pid: 4711, policy: { mode: 'allow_list' } });
    await sandboxes.stop(id);
    expect(fake.up.size).toBe(0);
    await sandboxes.start(id);
    expect(fake.up.has(id)).toBe(true);
    await sandboxes.destroy(id);
    expect(fake.up.size).toBe(0);
  });

  it('is none without a policy, and costs no call', async () => {
    const { network: shown } = await sandboxes.create(createRequest());
    expect(shown).toEqual({ mode: 'none', rules: [], revision: 0, presets: [] });
    expect(fake.up.size).toBe(0);
  });

  it('that cannot be opened leaves nothing of the sandbox, and fails a start', async () => {
    fake.fails = new ServiceError('UNAVAILABLE', 'no Perl');
    await expect(sandboxes.create(createRequest({ network }))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect([fixture.runtime.up.size, fixture.mount.attached.size, fixture.metadata.sandboxes.size]).toEqual([0, 0, 0]);
    expect(readdirSync(fixture.layout.deltas)).toEqual([]);
    fake.fails = undefined;
    const { id } = await sandboxes.create(createRequest({ network }));
    await sandboxes.stop(id);
    fake.fails = new ServiceError('UNAVAILABLE', 'no Perl');
    await expect(sandboxes.start(id)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(sandboxes.get(id)).toMatchObject({ status: 'SANDBOX_ERROR', status_reason: 'no Perl' });
    expect(fixture.runtime.up.size).toBe(0);
  });

  it('is that of the forked sandbox, or the one of the request', async () => {
    const { id } = await sandboxes.create(createRequest({ network }));
    await networks.update({ ...UPDATE, sandbox_id: id, mode: 'open' });
    const [like] = await sandboxes.fork(forkOf(id));
    expect(like?.sandbox?.network).toMatchObject({ mode: 'open', revision: 1 });
    expect(fake.up.get(like!.sandbox!.id)?.policy.mode).toBe('open');
    const [none] = await sandboxes.fork(forkOf(id, { network: { ...network, mode: 'none', rules: [] } }));
    expect(none?.sandbox?.network?.mode).toBe('none');
    expect(fake.up.has(none!.sandbox!.id)).toBe(false);
  });

  it('is open again after a restart of the server', async () => {
    const { id } = await sandboxes.create(createRequest({ network }));
    fixture.crash();
    fixture.networks = fake = new FakeNetworks();
    await start();
    await (await sandboxes.recover())();
    expect(fake.up.get(id)?.policy.rules).toHaveLength(1);
  });

  it.each([
    ['RUNTIME_MOCK', 'the runtime mock has no network of its own'],
    ['RUNTIME_DOCKER', 'runtime.docker.enable_networking'],
  ] as const)('is refused with %s', async (runtime, problem) => {
    fixture.settings.network = { ...fixture.settings.network, isDockers: true };
    await expect(sandboxes.create(createRequest({ network, runtime }))).rejects.toMatchObject({
      code: 'FAILED_PRECONDITION',
      message: expect.stringContaining(problem),
    });
  });

  it('is refused if the server has none', async () => {
    fixture.settings.network = { ...fixture.settings.network, enabled: false };
    await expect(sandboxes.create(createRequest({ network }))).rejects.toThrow('this server has no networks');
    const { id } = await sandboxes.create(createRequest({ network: { ...network, mode: '', rules: [] } }));
    await expect(networks.update({ ...UPDATE, sandbox_id: id, mode: 'open' })).rejects.toThrow(
      'this server has no networks',
    );
  });

  it('names the field of a policy that is not allowed', async () => {
    const bad = { ...network, rules: [{ ...rule, host: '10.0.0.1' }] };
    await expect(sandboxes.create(createRequest({ network: bad }))).rejects.toThrow(
      'network.rules[0].host is an address',
    );
  });
});

describe('UpdateNetwork', () => {
  it('puts a policy in force, with the next revision', async () => {
    const { id } = await sandboxes.create(createRequest());
    expect(await networks.update({ ...UPDATE, sandbox_id: id, mode: 'allow_list', rules: [rule] })).toMatchObject({
      revision: 1,
    });
    expect([fake.up.get(id)?.policy.mode, fixture.runtime.withNetwork.has(id)]).toEqual(['allow_list', true]);
    const opened = await networks.update({ ...UPDATE, sandbox_id: id, mode: 'open', revision: 1 });
    expect(opened).toEqual(networks.get(id));
    expect(fake.up.get(id)?.policy).toMatchObject({ mode: 'open', revision: 2 });
    // The answer sent back changes nothing.
    expect(await networks.update({ ...opened, sandbox_id: id })).toEqual(opened);
    await expect(networks.update({ ...UPDATE, sandbox_id: id, mode: 'none', revision: 1 })).rejects.toMatchObject({
      code: 'ABORTED',
    });
    await networks.update({ ...UPDATE, sandbox_id: id, mode: 'none' });
    expect([fake.up.size, fixture.runtime.withNetwork.size]).toEqual([0, 0]);
  });

  it('that cannot take effect changes nothing', async () => {
    const { id } = await sandboxes.create(createRequest({ network }));
    const before = networks.get(id);
    fake.fails = new ServiceError('UNAVAILABLE', 'lost');
    await expect(networks.update({ ...UPDATE, sandbox_id: id, mode: 'open' })).rejects.toMatchObject({
      code: 'UNAVAILABLE',
    });
    expect(networks.get(id)).toEqual(before);
  });

  it('of a stopped sandbox is for its next start', async () => {
    const { id } = await sandboxes.create(createRequest());
    await sandboxes.stop(id);
    await networks.update({ ...UPDATE, sandbox_id: id, mode: 'open' });
    expect(fake.up.size).toBe(0);
    await sandboxes.start(id);
    expect(fake.up.get(id)?.policy.mode).toBe('open');
  });
});

it('ListConnections has pages, the newest first', async () => {
  const { id } = await sandboxes.create(createRequest({ network }));
  const first = await networks.connections({ sandbox_id: id, page_size: 2, page_token: '' });
  expect(first.connections).toMatchObject([{ sequence: 3, rule: -1, opened_at: 5, closed_at: 0 }, { sequence: 2 }]);
  const second = await networks.connections({ sandbox_id: id, page_size: 2, page_token: first.next_page_token });
  expect(second).toMatchObject({ connections: [{ sequence: 1 }], next_page_token: '' });
  await sandboxes.stop(id);
  expect((await networks.connections({ sandbox_id: id, page_size: 2, page_token: '' })).connections).toEqual([]);
});

describe('WatchNetwork', () => {
  const watch = async (sandbox_id: string, { after = 0, signal = never } = {}) =>
    (await networks.watch({ sandbox_id, after, denied_only: false }, signal))[Symbol.asyncIterator]();
  const rest = async (events: AsyncIterator<NetworkEvent>): Promise<NetworkEvent[]> => {
    const next = await events.next();
    return next.done ? [] : [next.value, ...(await rest(events))];
  };

  it('has kept events, then each as it happens, and the last ones before the sandbox is stopped', async () => {
    const { id } = await sandboxes.create(createRequest({ network }));
    fake.log.connection('opened', CONNECTION);
    const events = await watch(id);
    const first = await events.next();
    expect(first.value).toMatchObject({ kind: 'opened', connection: { host: 'a', rule: -1, opened_at: 5 } });
    const second = events.next();
    fake.log.refused({ ...CONNECTION, allowed: false, code: 'secret_elsewhere' });
    expect((await second).value).toMatchObject({ kind: 'refused', connection: { code: 'secret_elsewhere' } });
    const waiting = events.next();
    fake.log.connection('closed', CONNECTION);
    await sandboxes.stop(id);
    const last = [(await waiting).value, ...(await rest(events))];
    expect(last).toMatchObject([{ kind: 'closed' }, { kind: '', end: { reason: 'closed' } }]);
    expect(fake.listeners.size).toBe(0);
    expect(await rest(await watch(id))).toMatchObject([{ end: { reason: 'closed' } }]);
  });

  it('ends with its signal, and does not count then', async () => {
    const { id } = await sandboxes.create(createRequest({ network }));
    const callers = Array.from({ length: 16 }, () => new AbortController());
    const waiting: Promise<unknown>[] = [];
    for (const { signal } of callers) waiting.push((await watch(id, { signal })).next());
    await expect(watch(id)).rejects.toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
    for (const caller of callers) caller.abort(new Error('gone'));
    for (const each of waiting) await expect(each).rejects.toThrow('gone');
    expect(fake.listeners.size).toBe(0);
    await watch(id);
  });

  it('is not held up, and holds no network open, by a reader that does not read', async () => {
    const { id } = await sandboxes.create(createRequest({ network }));
    const events = await watch(id);
    fake.log.connection('opened', CONNECTION);
    await events.next();
    for (let at = 0; at < 3000; at++) fake.log.connection('closed', CONNECTION);
    await networks.update({ ...UPDATE, sandbox_id: id, mode: 'none' });
    const found = await rest(events);
    expect([found[0]?.lost, found.length]).toEqual([2500, 502]);
  });
});

it('a command has the hosts that were refused while it ran, each once', async () => {
  const { id } = await sandboxes.create(createRequest({ network }));
  fake.refuse('before.example', 443, Date.now() - 60_000);
  const execution = await sandboxes.exec(execRequest(id), never);
  for (let at = 0; at < 60; at++) fake.refuse(`h${at}.example`);
  fake.refuse('h59.example');
  let denied: readonly DeniedHost[] = [];
  for await (const event of execution) if (event.kind === 'exit') denied = event.denied ?? [];
  expect(denied.map(({ host }) => host)).toEqual(Array.from({ length: 50 }, (_, at) => `h${at + 10}.example`));
  expect(denied[0]).toEqual({ host: 'h10.example', address: '', port: 443, code: 'not_allowed', reason: 'No.' });
});

it('a command that runs longer than its timeout has the refused hosts in its error', async () => {
  const { id } = await sandboxes.create(createRequest({ network }));
  const sandbox = fixture.context.find(id);
  async function* late(): AsyncGenerator<never> {
    fake.refuse('pypi.org');
    yield* [];
    throw new ServiceError('DEADLINE_EXCEEDED', 'late');
  }
  const execution = withDenied(late(), sandbox, Date.now());
  await expect(execution[Symbol.asyncIterator]().next()).rejects.toMatchObject({
    code: 'DEADLINE_EXCEEDED',
    details: [{ denied_hosts: [{ host: 'pypi.org', port: 443 }] }],
  });
});
