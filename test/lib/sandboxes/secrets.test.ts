import { afterEach, beforeEach, expect, it } from 'vitest';
import type { NetworkPolicy as PolicyRequest, SecretBinding } from '../../../lib/contract/messages.ts';
import { ServiceError } from '../../../lib/errors.ts';
import type { SecretRecord } from '../../../lib/metadata/metadata.ts';
import type { BoundSecret } from '../../../lib/network/secrets/bound-secret.ts';
import type { SandboxNetworks } from '../../../lib/network/worker/networks.ts';
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
