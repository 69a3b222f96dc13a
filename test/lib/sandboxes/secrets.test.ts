import { afterEach, beforeEach, expect, it } from 'vitest';
import type { NetworkPolicy as PolicyRequest, SecretBinding } from '../../../lib/contract/messages.ts';
import { ServiceError } from '../../../lib/errors.ts';
import type { SecretRecord } from '../../../lib/metadata/metadata.ts';
import type { BoundSecret } from '../../../lib/network/secrets/bound-secret.ts';
import type { SandboxNetworks } from '../../../lib/network/worker/networks.ts';
import { createNetworks } from '../../../lib/sandboxes/network/networks.ts';
import type { SandboxKeeper } from '../../../lib/sandboxes/sandboxes.ts';
import { createRequest, execRequest, Fixture, forkOf, never } from './fixture.ts';

const network: PolicyRequest = { mode: 'open', rules: [], revision: 0, presets: [] };
const binding: SecretBinding = { name: 'github', variable: 'TOKEN', hosts: [], shape: '' };

const inForce = new Map<string, readonly BoundSecret[]>();
const networks = {
  open: async (id, _pid, _policy, secrets) => void inForce.set(id, secrets),
  update: async (id, _policy, secrets) => void inForce.set(id, secrets),
  close: async (id) => void inForce.delete(id),
  connections: async () => [],
  refusals: async () => [],
  events: async () => undefined,
  onNews: () => () => undefined,
} satisfies SandboxNetworks;

let fixture: Fixture;
let sandboxes: SandboxKeeper;
let value: string | ServiceError;
const record = { owner_id: 'ann', name: 'github', hosts: ['*.github.example'], parts: ['header'], shape: '' };

beforeEach(async () => {
  fixture = new Fixture();
  fixture.networks = networks;
  fixture.authorities = 'PEM';
  value = 'the-value';
  fixture.secrets = {
    find: ({ owner_id, name }) => {
      if (owner_id === 'ann' && name === 'github') return record as unknown as SecretRecord;
      throw new ServiceError('NOT_FOUND', `secret "${name}" does not exist`);
    },
    valueOf: async () => {
      if (typeof value === 'string') return value;
      throw value;
    },
  };
  sandboxes = await fixture.start();
  await fixture.addCodebase();
});
afterEach(() => fixture.remove());

it('commands have a placeholder, and only the proxy has the value', async () => {
  const sandbox = await sandboxes.create(createRequest({ network, secrets: [binding], env: { A: 'b' } }));
  const [{ placeholder = '' } = {}] = sandbox.secrets;
  expect(sandbox.secrets).toEqual([{ name: 'github', variable: 'TOKEN', hosts: [], placeholder }]);
  expect(placeholder).toMatch(/^pdk_secret_github_[0-9a-f]{16}$/);
  await sandboxes.exec(execRequest(sandbox.id), never);
  await sandboxes.exec(execRequest(sandbox.id, { env: { TOKEN: 'own' } }), never);
  const { commands } = fixture.runtime.up.get(sandbox.id)!;
  expect(commands.map(({ env }) => env)).toMatchObject([{ A: 'b', TOKEN: placeholder }, { TOKEN: 'own' }]);
  expect(inForce.get(sandbox.id)).toEqual([
    { name: 'github', placeholder, value: 'the-value', hosts: ['*.github.example'], in: ['header'] },
  ]);
  expect(JSON.stringify([sandbox, fixture.metadata.sandboxes.get(sandbox.id)])).not.toContain('the-value');
});

it('a placeholder stays over restarts, and forks have others', async () => {
  const request = { network, secrets: [{ ...binding, hosts: ['api.github.example'] }] };
  const { id, secrets } = await sandboxes.create(createRequest(request));
  sandboxes = await fixture.start();
  await sandboxes.recover();
  expect(sandboxes.get(id).secrets).toEqual(secrets);
  const forks = await sandboxes.fork(forkOf(id, { count: 2 }));
  const placeholders = [secrets, ...forks.map(({ sandbox }) => sandbox!.secrets)].map(([each]) => each!.placeholder);
  expect(new Set(placeholders).size).toBe(3);
  expect(forks[0]!.sandbox!.secrets).toMatchObject([
    { name: 'github', variable: 'TOKEN', hosts: ['api.github.example'] },
  ]);
});

it('a changed secret is in force in running sandboxes, one that is gone or unusable has no hosts', async () => {
  const { id } = await sandboxes.create(createRequest({ network, secrets: [binding] }));
  value = 'another-value';
  await sandboxes.secretChanged({ owner_id: 'bob', name: 'github' });
  expect(inForce.get(id)).toMatchObject([{ value: 'the-value' }]);
  await sandboxes.secretChanged(record);
  expect(inForce.get(id)).toMatchObject([{ value: 'another-value' }]);
  value = new ServiceError('UNAVAILABLE', 'no key');
  await sandboxes.secretChanged(record);
  expect(inForce.get(id)).toMatchObject([{ value: '', hosts: [] }]);
});

it('values of one sandbox that are too long together are not used', async () => {
  value = 'x'.repeat(65_536);
  const secrets = ['A', 'B', 'C'].map((variable) => ({ ...binding, variable }));
  const { id } = await sandboxes.create(createRequest({ network, secrets }));
  expect(inForce.get(id)!.map(({ value, hosts }) => [value.length, hosts.length])).toEqual([
    [65_536, 1],
    [65_536, 1],
    [0, 0],
  ]);
});

it('a secret that changes while a network is changed is in force afterwards', async () => {
  const { id } = await sandboxes.create(createRequest({ network, secrets: [binding] }));
  let answer = (_: string) => {};
  let isAsked = false;
  const stored = fixture.secrets!.valueOf;
  fixture.secrets!.valueOf = () => {
    isAsked = true;
    return new Promise((resolve) => {
      answer = resolve;
    });
  };
  const change = createNetworks(fixture.context).update({ ...network, sandbox_id: id, rules: [], mode: 'allow_list' });
  await expect.poll(() => isAsked).toBe(true);
  fixture.secrets!.valueOf = stored;
  value = 'another-value';
  const rotation = sandboxes.secretChanged(record);
  answer('the-value');
  await Promise.all([change, rotation]);
  expect(inForce.get(id)).toMatchObject([{ value: 'another-value' }]);
});

const redacted: SecretBinding = {
  ...{ name: '', variable: '', shape: '', source: 'redacted' },
  ...{ path: '.env', key: 'STRIPE_KEY', hosts: ['api.stripe.example'] },
};

it('values of redacted files are bound to hosts, with the placeholders that the files show', async () => {
  const replaced = [
    { key: 'STRIPE_KEY', value: 'sk_live_value', placeholder: 'sk_live_pdka' },
    { key: 'SAME', value: 'sk_live_value', placeholder: 'sk_live_pdka' },
    { key: 'OTHER', value: 'other-value', placeholder: 'pdkb' },
    { key: 'EMPTY', value: '', placeholder: 'pdkc' },
    { key: 'SHORT', value: 'a', placeholder: 'pdkd' },
    { key: 'LINES', value: 'a-value\r\nX-Other: a', placeholder: 'pdke' },
    { key: 'HALF', value: 'a-value-\ud800', placeholder: 'pdkf' },
  ];
  const asked: unknown[] = [];
  Object.assign(fixture.mount, {
    files: async (...request: unknown[]) => {
      asked.push(request);
      return request[3] === '.env' ? { content: '', isHidden: false, replaced } : undefined;
    },
  });
  const secrets = [
    redacted,
    { ...redacted, key: 'SAME', hosts: ['www.stripe.example'] },
    ...['MISSING', 'EMPTY', 'SHORT', 'LINES', 'HALF'].map((key) => ({ ...redacted, key })),
    { ...redacted, path: 'plain' },
    binding,
  ];
  const sandbox = await sandboxes.create(createRequest({ network, secrets }));
  expect(asked[0]).toEqual([sandbox.id, 'owner', 'redaction', '.env', false]);
  expect(inForce.get(sandbox.id)).toMatchObject([
    { name: 'github' },
    {
      ...{ placeholder: 'sk_live_pdka', value: 'sk_live_value', in: ['header'] },
      hosts: ['api.stripe.example', 'www.stripe.example'],
    },
  ]);
  expect(sandbox.secrets[0]).toEqual({
    ...{ name: '', variable: '', placeholder: '', path: '.env', key: 'STRIPE_KEY' },
    hosts: ['api.stripe.example'],
  });
  await sandboxes.exec(execRequest(sandbox.id), never);
  const variables = Object.keys(fixture.runtime.up.get(sandbox.id)!.commands[0]!.env);
  expect([variables.includes('TOKEN'), variables.includes('')]).toEqual([true, false]);
  expect(JSON.stringify([sandbox, fixture.metadata.sandboxes.get(sandbox.id)])).not.toContain('sk_live_value');
});

it.each([
  [{ name: 'github' }, 'name must be empty'],
  [{ variable: 'A' }, 'variable must be empty'],
  [{ path: '' }, 'path must not be empty'],
  [{ key: '' }, 'key must not be empty'],
  [{ hosts: [] }, 'hosts must not be empty'],
  [{ source: '', name: 'github', variable: 'A' }, 'path must be empty'],
  [{ ...binding, source: '', path: '', key: '', name: '' }, 'name must not be empty'],
])('a value of a redacted file cannot be bound with %j', async (wrong, message) => {
  const request = createRequest({ network, secrets: [{ ...redacted, ...wrong }] });
  await expect(sandboxes.create(request)).rejects.toThrow(`secrets[0].${message}`);
});

it.each([
  ['without a network', { network: undefined }, 'INVALID_ARGUMENT', /secrets need a network/],
  [
    'with a network of mode none',
    { network: { ...network, mode: 'none' } },
    'INVALID_ARGUMENT',
    /secrets need a network/,
  ],
  ['of another owner', { secrets: [{ ...binding, name: 'bobs' }] }, 'NOT_FOUND', /"bobs"/],
  [
    'for more hosts',
    { secrets: [{ ...binding, hosts: ['evil.example'] }] },
    'INVALID_ARGUMENT',
    /^secrets\[0\]\.hosts has evil/,
  ],
  ['in a variable of env', { env: { TOKEN: 'a' } }, 'INVALID_ARGUMENT', /^secrets\[0\]\.variable names a variable/],
  ['twice in one variable', { secrets: [binding, binding] }, 'INVALID_ARGUMENT', /^secrets\[1\]\.variable/],
])('a sandbox cannot be bound to a secret %s', async (_, wrong, code, message) => {
  const request = { network, secrets: [binding], ...wrong };
  const error = await sandboxes.create(createRequest(request as never)).catch((each: unknown) => each);
  expect(error).toMatchObject({ code, message: expect.stringMatching(message) });
  expect(fixture.runtime.launches).toEqual([]);
});

it('a sandbox is not created with a secret that cannot be decrypted', async () => {
  value = new ServiceError('UNAVAILABLE', 'no key');
  await expect(sandboxes.create(createRequest({ network, secrets: [binding] }))).rejects.toBe(value);
});

it('a sandbox is not created with a secret where connections cannot be looked into', async () => {
  fixture.authorities = undefined;
  sandboxes = await fixture.start();
  const error = { code: 'UNAVAILABLE', message: expect.stringMatching(/cannot look into connections/) };
  await expect(sandboxes.create(createRequest({ network, secrets: [binding] }))).rejects.toMatchObject(error);
  expect(fixture.runtime.up.size).toBe(0);
});
