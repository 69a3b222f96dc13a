import { expect, it } from 'vitest';
import { Paddock } from '../../../clients/typescript/src/index.ts';
import { fakeServer, json } from './fake-server.ts';

const answered = async (value: object) => {
  const { url, seen } = await fakeServer(json(value));
  return { api: new Paddock({ url }).api, seen };
};

it('enums of an answer are short words, also one that this version does not know', async () => {
  const permissions = [{ pattern: '**', permission: 'PERMISSION_READ', type: 'PATTERN_FILE' }];
  const { api } = await answered({ status: 'SANDBOX_HIBERNATING', runtime: 'RUNTIME_BWRAP', permissions });
  expect(await api.getSandbox({ sandboxId: 'sb_1' })).toEqual({
    ...{ status: 'hibernating', runtime: 'bwrap' },
    permissions: [{ pattern: '**', permission: 'read', type: 'file' }],
  });
});

it('times of an answer are Dates, absent if there is none, and a file may be of 1970', async () => {
  const { api } = await answered({ created_at: 1_800_000_000, expires_at: 0, modified_at: 0 });
  const info = await api.getSandbox({ sandboxId: 'sb_1' });
  expect(info).toEqual({ createdAt: new Date('2027-01-15T08:00:00Z'), modifiedAt: new Date(0) });
});

it('requests have the words of the contract on the wire, in the body and in the query', async () => {
  const { api, seen } = await answered({ sandboxes: [], next_page_token: '' });
  const permissions = [{ pattern: 'a', permission: 'write', type: 'directory' }] as const;
  await api.createSandbox({ codebaseId: 'cb_1', runtime: 'docker', permissions, labels: { status: 'running' } });
  await api.listSandboxes({ status: 'running' }).next();
  expect(JSON.parse(seen[0]!.body)).toEqual({
    ...{ codebase_id: 'cb_1', runtime: 'RUNTIME_DOCKER', labels: { status: 'running' } },
    permissions: [{ pattern: 'a', permission: 'PERMISSION_WRITE', type: 'PATTERN_DIRECTORY' }],
  });
  expect(seen[1]!.url).toBe('/v1/sandboxes?status=SANDBOX_RUNNING&page_size=1000');
});

it("labels and variables are the caller's own, whatever their names are", async () => {
  const labels = { status: 'SANDBOX_RUNNING', created_at: '0', my_label: 'x' };
  const { api } = await answered({ labels });
  expect(await api.getSandbox({ sandboxId: 'sb_1' })).toEqual({ labels });
});

it('a word that there is not is refused with those that there are', async () => {
  const { api, seen } = await answered({});
  const wrong = api.listSandboxes({ status: 'runing' as 'running' }).next();
  await expect(wrong).rejects.toThrow('status must be one of pending, running, stopped, error, and not "runing"');
  expect(seen).toEqual([]);
});
