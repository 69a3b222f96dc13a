import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { expectRefusal } from './scene.ts';
import { type Case, contract } from './suite.ts';

const VALUE = 'ghp_a-value-that-nobody-sees';
const cases: Case[] = [
  {
    name: 'stores, shows, lists and removes a secret, and shows its value nowhere',
    runtimes: ['mock'],
    async run({ client, owner, state, server }) {
      const secret = { name: 'github', owner_id: owner };
      const put = { ...secret, value: VALUE, hosts: ['api.github.com', '*.github.example'], shape: 'ghp_' };
      const shown = await client.call('PutSecret', put);
      expect(shown).toMatchObject({ ...secret, hosts: put.hosts, parts: ['header'], revision: 1, used_by: [] });
      expect(shown).not.toHaveProperty('value');
      expect(await client.call('PutSecret', put)).toMatchObject({ revision: 2, created_at: shown.created_at });
      expect(await client.call('GetSecret', secret)).toMatchObject({ revision: 2 });
      const { secrets } = await client.call('ListSecrets', { owner_id: owner });
      expect(secrets).toHaveLength(1);
      expect((await stat(join(state.directory, 'metadata.json.secrets-key'))).mode & 0o777).toBe(0o600);
      await client.call('DeleteSecret', secret);
      await expectRefusal(client.call('GetSecret', secret), 'NOT_FOUND', /"github"/);
      await expectRefusal(client.call('DeleteSecret', secret), 'NOT_FOUND');
      expect(server.log.join('\n')).not.toContain(VALUE);
    },
  },
  {
    name: 'stores, shows and removes the header of a secret',
    runtimes: ['mock'],
    async run({ client, owner }) {
      const put = { name: 'llm', owner_id: owner, value: VALUE, hosts: ['api.llm.example'] };
      const header = 'x-api-key';
      expect(await client.call('PutSecret', put)).not.toHaveProperty('header');
      expect(await client.call('PutSecret', { ...put, header })).toMatchObject({ header, parts: ['header'] });
      expect(await client.call('GetSecret', { name: 'llm', owner_id: owner })).toMatchObject({ header });
      const refused = client.call('PutSecret', { ...put, header, parts: ['query'] });
      await expectRefusal(refused, 'INVALID_ARGUMENT', /^header must be empty unless parts/);
      expect(await client.call('PutSecret', put)).not.toHaveProperty('header');
      await client.call('DeleteSecret', { name: 'llm', owner_id: owner });
    },
  },
  {
    name: 'refuses what is no secret, without its value',
    runtimes: ['mock'],
    async run({ client, owner }) {
      const put = { name: 'github', owner_id: owner, value: VALUE, hosts: ['api.github.com'] };
      for (const wrong of [
        { name: '-' },
        { value: `${VALUE}\n` },
        { hosts: ['*.com'] },
        { hosts: [] },
        { parts: [VALUE] },
        { header: VALUE.toUpperCase() },
        { header: 'host' },
      ]) {
        const error = await expectRefusal(client.call('PutSecret', { ...put, ...wrong }), 'INVALID_ARGUMENT');
        expect(error.message).not.toContain(VALUE);
      }
    },
  },
];

contract('secrets', cases);
