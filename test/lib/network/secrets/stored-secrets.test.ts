import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { silentLog } from '../../../../lib/log.ts';
import type { Metadata } from '../../../../lib/metadata/metadata.ts';
import { openMetadata } from '../../../../lib/metadata/store.ts';
import { seal } from '../../../../lib/network/secrets/seal.ts';
import { SecretKey } from '../../../../lib/network/secrets/secret-key.ts';
import { StoredSecrets, secretId } from '../../../../lib/network/secrets/stored-secrets.ts';

const VALUE = 'ghp_the-value-of-the-secret';
const ANN = { owner_id: 'ann', name: 'github' };
const request = { ...ANN, value: VALUE, hosts: ['api.github.com'], parts: [], shape: '', keep_length: false };

let folder: string;
let metadata: Metadata;
const used = new Map<string, string[]>();
const changed: string[] = [];

const open = async () => {
  metadata = await openMetadata(join(folder, 'db'), silentLog);
};
const secrets = (file = 'key') =>
  new StoredSecrets({
    records: metadata.secrets,
    key: new SecretKey({ file: join(folder, file), command: [] }),
    usedBy: () => used,
    changed: async (secret) => void changed.push(secretId(secret)),
    now: () => 5_000,
  });

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'paddock-secrets-'));
  used.clear();
  changed.length = 0;
  await open();
});
afterEach(async () => {
  await metadata.close();
  await rm(folder, { recursive: true });
});

it('stores a value that only the key reads, and shows it nowhere', async () => {
  const shown = await secrets().put(request);
  expect(shown).toEqual({
    ...ANN,
    hosts: ['api.github.com'],
    parts: ['header'],
    shape: '',
    keep_length: false,
    created_at: 5,
    updated_at: 5,
    revision: 1,
    used_by: [],
  });
  await metadata.close();
  for (const file of await readdir(folder)) expect(await readFile(join(folder, file), 'latin1')).not.toContain('ghp_');
  await open();
  expect(await secrets().valueOf(secrets().find(ANN))).toBe(VALUE);
  expect(
    JSON.stringify([secrets().get(ANN), secrets().list({ owner_id: '', page_size: 9, page_token: '' })]),
  ).not.toContain('sealed');
});

it('replaces a value, and tells of it', async () => {
  const all = secrets();
  await all.put(request);
  const before = all.find(ANN).sealed;
  expect(await all.put({ ...request, value: `${VALUE}2` })).toMatchObject({ revision: 2, created_at: 5 });
  expect(await all.valueOf(all.find(ANN))).toBe(`${VALUE}2`);
  expect(all.find(ANN).sealed).not.toBe(before);
  expect(changed).toEqual(['ann/github', 'ann/github']);
});

it('keeps the secrets of owners apart', async () => {
  const all = secrets();
  await all.put(request);
  await all.put({ ...request, owner_id: 'bob', value: 'bobs-value' });
  expect(all.list({ owner_id: 'bob', page_size: 9, page_token: '' }).secrets).toMatchObject([{ owner_id: 'bob' }]);
  expect(() => all.get({ owner_id: 'eve', name: 'github' })).toThrow(/"github" of owner "eve" does not exist/);
  // An encrypted value moved to another owner or name, or given other hosts, is refused.
  const [ann, bob] = [all.find(ANN), all.find({ ...ANN, owner_id: 'bob' })];
  await metadata.secrets.put({ ...bob, sealed: ann.sealed });
  await expect(all.valueOf(all.find({ ...ANN, owner_id: 'bob' }))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  await metadata.secrets.put({ ...ann, hosts: ['evil.example'] });
  await expect(all.valueOf(all.find(ANN))).rejects.toThrow(/"github" is damaged/);
});

it('a secret of one header is sealed with it: its record cannot name another one, or none', async () => {
  const all = secrets();
  await all.put({ ...request, header: 'x-api-key' });
  const record = all.find(ANN);
  expect(await all.valueOf(record)).toBe(VALUE);
  const { header: _, ...without } = record;
  for (const other of [{ ...record, header: 'x-other' }, without]) {
    await expect(all.valueOf(other)).rejects.toThrow(/"github" is damaged/);
  }
  await all.put(request);
  expect(await all.valueOf(all.find(ANN))).toBe(VALUE);
  await expect(all.valueOf({ ...all.find(ANN), header: 'x-api-key' })).rejects.toThrow(/"github" is damaged/);
});

it('a value that was sealed before secrets had headers is read', async () => {
  const key = new SecretKey({ file: join(folder, 'key'), command: [] });
  await secrets().put(request);
  const { sealed: _, key_id: __, ...plain } = secrets().find(ANN);
  const before = seal(await key.get(false), VALUE, ['ann', 'github', ['api.github.com'], ['header']]);
  expect(await secrets().valueOf({ ...plain, ...before })).toBe(VALUE);
});

it('a flipped byte anywhere in the encrypted value is found', async () => {
  const all = secrets();
  await all.put(request);
  const record = all.find(ANN);
  const bytes = Buffer.from(record.sealed, 'base64');
  for (const at of [0, 11, 12, 27, 28, bytes.length - 1]) {
    const flipped = Buffer.from(bytes);
    flipped[at]! ^= 1;
    const error = await all.valueOf({ ...record, sealed: flipped.toString('base64') }).catch((each: Error) => each);
    expect(error).toMatchObject({ code: 'UNAVAILABLE', message: expect.stringContaining('is damaged') });
  }
  for (const sealed of ['', 'AAAA', record.sealed.slice(0, 20)]) {
    await expect(all.valueOf({ ...record, sealed })).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  }
});

it('with another key, or none, values cannot be used or added, but secrets can be removed', async () => {
  await secrets().put(request);
  await expect(secrets('lost').valueOf(secrets().find(ANN))).rejects.toThrow(/lost does not exist/);
  await expect(secrets('lost').put({ ...request, name: 'b' })).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  await new SecretKey({ file: join(folder, 'other'), command: [] }).get(true);
  await expect(secrets('other').valueOf(secrets().find(ANN))).rejects.toThrow(/encrypted under another key/);
  await expect(secrets('other').put({ ...request, name: 'b' })).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  expect(secrets('other').get(ANN).name).toBe('github');
  await secrets('other').remove({ ...ANN, force: false });
  await secrets('other').put(request);
});

it('a secret in use is only removed by force', async () => {
  const all = secrets();
  await all.put(request);
  used.set(secretId(ANN), ['sb_1', 'sb_2']);
  expect(all.get(ANN).used_by).toEqual(['sb_1', 'sb_2']);
  await expect(all.remove({ ...ANN, force: false })).rejects.toThrow(/bound to sandbox sb_1 and 1 more/);
  await all.remove({ ...ANN, force: true });
  await expect(all.remove({ ...ANN, force: true })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  expect(changed).toEqual(['ann/github', 'ann/github']);
});

it.each([
  ['too short', { value: 'seven-7' }, /at least 8 bytes/],
  ['a line end in a header', { value: 'a-value\r\nX-Admin: 1' }, /no control characters/],
  ['a NUL in a query', { value: 'a-value\0a', parts: ['query'] }, /no control characters/],
  ['no text', { value: 'a-value-\ud800' }, /must be text/],
  ['too short for its shape', { value: 'ghp_12345678', shape: 'ghp_', keep_length: true }, /keep_length/],
])('refuses a value that is %s', async (_, wrong, message) => {
  await expect(secrets().put({ ...request, ...wrong })).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    message: expect.stringMatching(message),
  });
  await secrets().put({ ...request, value: 'a key\nof two lines', parts: ['body'] });
});

it('an owner has a limited number of secrets', async () => {
  const all = secrets();
  await all.put(request);
  const record = all.find(ANN);
  for (let count = 1; count < 1000; count++) void metadata.secrets.put({ ...record, id: `ann/${count}` });
  await expect(all.put({ ...request, name: 'more' })).rejects.toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
  await all.put(request);
  await all.put({ ...request, owner_id: 'bob' });
});
