import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHostKey } from '../../../lib/access/host-key.ts';
import { openKeyAccess } from '../../../lib/access/key-access.ts';
import { fixedAdminKey } from '../../../lib/access/new-key.ts';
import { NO_LIMITS } from '../../../lib/limits/limits.ts';
import { unlimitedOwners } from '../../../lib/limits/stored-limits.ts';
import { createLog } from '../../../lib/log.ts';
import type { Metadata } from '../../../lib/metadata/metadata.ts';
import { openMetadata } from '../../../lib/metadata/store.ts';
import type { Credentials, NewKey } from '../../../lib/services.ts';

let folder: string;
let dbPath: string;
let metadata: Metadata;
let now: number;
let lines: string[];
const log = createLog({ level: 'debug', format: 'json' }, { write: (line) => void lines.push(line) });

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'paddock-keys-'));
  dbPath = join(folder, 'db.json');
  metadata = await openMetadata(dbPath, log);
  now = 1_700_000_000_000;
  lines = [];
});
afterEach(async () => {
  await metadata.close();
  rmSync(folder, { recursive: true });
});

const open = (adminKey?: ReturnType<typeof fixedAdminKey>, binding?: { adminNames: string[] }) => {
  const noLimits = { perKey: NO_LIMITS, limits: unlimitedOwners(0) };
  return openKeyAccess({ metadata, dbPath, adminKey, binding, ...noLimits, log, now: () => now });
};
type Opened = ReturnType<typeof open>;

const request = (more: Partial<NewKey> = {}): NewKey => ({
  name: 'a key',
  role: 'owner',
  owner_id: 'ann',
  sandbox_id: '',
  scopes: [],
  expires_in: 0,
  ...more,
});

function admit({ access }: Opened, given: Partial<Credentials>, ended: (text: string) => void = () => {}) {
  const credentials = () => ({ authorization: [], apiKey: [], ...given });
  return access.admit(credentials, { role: 'agent', on: 'nothing' }, ({ message }) => ended(message), []);
}

it('an owner has at most 1,000 keys, also if they are created at once; others are not affected', async () => {
  const { keys } = open();
  const made = await Promise.allSettled(Array.from({ length: 1010 }, () => keys.create(request(), '')));
  expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1000);
  const refused = 'owner "ann" has 1000 keys, the most is 1000: revoke keys that are not in use';
  await expect(keys.create(request(), '')).rejects.toMatchObject({ code: 'RESOURCE_EXHAUSTED', message: refused });
  const [first] = (await keys.list({ owner_id: 'ann', page_size: 1, page_token: '' })).keys;
  await keys.revoke(first!.id);
  await keys.create(request(), '');
  await keys.create(request({ owner_id: 'bob' }), '');
});

it("the cleanup removes keys that expired 7 days ago, and agents' keys without a sandbox", async () => {
  const opened = open();
  const { key: short, secret } = await opened.keys.create(request({ expires_in: 60 }), '');
  const { key: long } = await opened.keys.create(request(), '');
  await metadata.sandboxes.put({ id: 'sb_1', owner_id: 'ann' } as never);
  const { key: agent } = await opened.keys.create(request({ role: 'agent', sandbox_id: 'sb_1' }), '');
  const ids = async () => {
    await opened.keys.expire();
    const { keys } = await opened.keys.list({ owner_id: '', page_size: 100, page_token: '' });
    return new Set(keys.map(({ id }) => id));
  };
  now += (7 * 24 * 3600 + 59) * 1000;
  expect(await ids()).toEqual(new Set([short?.id, long?.id, agent?.id]));
  expect(refusal(opened, { apiKey: [secret] })).toBe('the key has expired');
  now += 1000;
  await metadata.sandboxes.remove('sb_1');
  expect(await ids()).toEqual(new Set([long?.id]));
  expect(refusal(opened, { apiKey: [secret] })).toBe('the key is not valid');
});

const refusal = (opened: Opened, given: Partial<Credentials>) => {
  try {
    admit(opened, given);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('the call was admitted');
};

describe('a key', () => {
  it('is accepted as a bearer token and as x-api-key', async () => {
    const opened = open();
    const { secret } = await opened.keys.create(request(), '');
    for (const given of [
      { authorization: [`Bearer ${secret}`] },
      { authorization: [`bearer  ${secret}`] },
      { apiKey: [secret] },
      { authorization: [`Bearer ${secret}`], apiKey: [secret] },
    ]) {
      expect(admit(opened, given).principal).toMatchObject({ role: 'owner', owner_id: 'ann' });
    }
  });

  it('is refused with one text, whatever is wrong with it', async () => {
    const opened = open();
    const { secret, key } = await opened.keys.create(request(), '');
    const { secret: gone, key: revoked } = await opened.keys.create(request(), '');
    await opened.keys.revoke(revoked!.id);
    const flipped = secret.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
    const others = ['', 'x', secret.slice(0, -1), `${secret}A`, flipped, gone, `pdk_00000000_${secret.slice(-43)}`];
    for (const other of others) expect(refusal(opened, { apiKey: [other] })).toBe('the key is not valid');
    expect(refusal(opened, { authorization: [`Basic ${secret}`] })).toBe('the key is not valid');
    expect(refusal(opened, {})).toContain('a key is required');
    for (const given of [{ apiKey: [secret, flipped] }, { authorization: [`Bearer ${flipped}`], apiKey: [secret] }]) {
      expect(refusal(opened, given)).toBe('authorization and x-api-key must have one key');
    }
    expect(key?.mask).toBe(`pdk_${key?.id}_…${secret.slice(-2)}`);
  });

  it('is stored as the hash of its secret only, and never logged', async () => {
    const opened = open();
    const { secret } = await opened.keys.create(request(), '');
    admit(opened, { apiKey: [secret] });
    await metadata.close();
    const stored = readFileSync(`${dbPath}.log.1`, 'utf8');
    expect(stored).toContain('"sha256":"');
    for (const text of [stored, lines.join('')]) expect(text).not.toContain(secret.slice(13));
  });

  it('is refused from its expiry on, and calls in progress end', async () => {
    const opened = open();
    const { secret, key } = await opened.keys.create(request({ expires_in: 10 }), '');
    expect(key?.expires_at).toBe(1_700_000_010);
    now += 9_999;
    admit(opened, { apiKey: [secret] });
    now += 1;
    expect(refusal(opened, { apiKey: [secret] })).toBe('the key has expired');
  });

  it('ends its calls when it is revoked', async () => {
    const opened = open();
    const { secret, key } = await opened.keys.create(request(), '');
    const ended: string[] = [];
    admit(opened, { apiKey: [secret] }, (text) => ended.push(text));
    admit(opened, { apiKey: [secret] }, (text) => ended.push(text)).release();
    await opened.keys.revoke(key!.id);
    expect(ended).toEqual(['the key was revoked']);
    await expect(opened.keys.revoke(key!.id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('has its last use recorded at most once a minute', async () => {
    const opened = open();
    const { secret } = await opened.keys.create(request(), '');
    const lastUse = async () =>
      (await opened.keys.list({ owner_id: '', page_size: 9, page_token: '' })).keys[0]!.last_used_at;
    const uses: number[] = [];
    for (const later of [0, 59_000, 1_000]) {
      now += later;
      admit(opened, { apiKey: [secret] });
      uses.push(await lastUse());
    }
    expect(uses).toEqual([1_700_000_000, 1_700_000_000, 1_700_000_060]);
  });

  it('needs an owner, or a sandbox, by its role', async () => {
    const { keys } = open();
    const problems: [Partial<NewKey>, string][] = [
      [{ owner_id: '' }, 'owner_id is required for a key of role owner'],
      [{ sandbox_id: 'sb_1' }, 'sandbox_id is only for keys of role agent'],
      [{ role: 'admin' }, 'owner_id must be empty for a key of role admin'],
      [{ role: 'agent' }, 'sandbox_id is required for a key of role agent'],
      [{ role: 'agent', sandbox_id: 'sb_1' }, 'sandbox "sb_1" does not exist'],
    ];
    for (const [more, message] of problems) await expect(keys.create(request(more), '')).rejects.toThrow(message);
  });
});

describe('a key that is bound to client certificates', () => {
  it("is accepted with its owner's certificate only, and one without an owner with those of admin_names", async () => {
    const opened = open(undefined, { adminNames: ['operator', 'ann'] });
    const { secret: owner } = await opened.keys.create(request(), '');
    const admin = createHostKey(dbPath, 'first');
    const outcome = (key: string, name: string | undefined) => {
      try {
        return admit(opened, { apiKey: [key], clientName: () => name }).principal.role;
      } catch (error) {
        return (error as Error).message;
      }
    };
    const refused = 'the client certificate is not that of the owner of the key';
    for (const [name, ofOwner, ofAdmin] of [
      ['ann', 'owner', 'admin'],
      ['operator', refused, 'admin'],
      ['bob', refused, refused],
      ['', refused, refused],
      ['Ann', refused, refused],
      [undefined, refused, refused],
    ] as const) {
      expect([name, outcome(owner, name), outcome(admin, name)]).toEqual([name, ofOwner, ofAdmin]);
    }
    expect(outcome('pdk_00000000_x', 'ann')).toBe('the key is not valid');
    expect(refusal(opened, { apiKey: [owner] })).toBe(refused);
  });
});

describe('a key created on the host', () => {
  it('is found right after a call with another unknown key', () => {
    const opened = open();
    const unknown = `pdk_00000000_${'k'.repeat(43)}`;
    for (let i = 0; i < 20; i++) {
      expect(refusal(opened, { apiKey: [unknown] })).toBe('the key is not valid');
      expect(admit(opened, { apiKey: [createHostKey(dbPath, `key ${i}`)] }).principal.role).toBe('admin');
    }
  });

  it('is accepted at once by the server that runs, and is then in its metadata', async () => {
    const opened = open();
    expect(lines.join('')).toContain('there is no admin key');
    const text = createHostKey(dbPath, 'first');
    expect(statSync(`${dbPath}.keys`).mode & 0o777).toBe(0o700);
    const [name] = readdirSync(`${dbPath}.keys`);
    expect(readFileSync(join(`${dbPath}.keys`, name!), 'utf8')).not.toContain(text.slice(13));
    expect(admit(opened, { apiKey: [text] }).principal.role).toBe('admin');
    await expect.poll(() => readdirSync(`${dbPath}.keys`), { timeout: 30_000 }).toEqual([]);
    expect((await opened.keys.list({ owner_id: '', page_size: 9, page_token: '' })).keys).toMatchObject([
      { name: 'first' },
    ]);
    expect(lines.join('')).not.toContain(text);
  });

  it('is in use from the start of a server that was stopped', async () => {
    const text = createHostKey(dbPath, 'first');
    const opened = open();
    expect(lines.join('')).not.toContain('there is no admin key');
    expect(admit(opened, { apiKey: [text] }).principal.role).toBe('admin');
  });

  it('does not come back after it was revoked', async () => {
    const text = createHostKey(dbPath, 'first');
    const opened = open();
    await opened.keys.revoke(text.slice(4, 12));
    expect(refusal(open(), { apiKey: [text] })).toBe('the key is not valid');
  });

  it('is ignored, with a line in the log, if its file is not a key', () => {
    const text = createHostKey(dbPath, 'first');
    const file = join(`${dbPath}.keys`, `${text.slice(4, 12)}.json`);
    writeFileSync(file, '{}');
    expect(refusal(open(), { apiKey: [text] })).toBe('the key is not valid');
    expect(lines.join('')).toContain('key of the host cannot be read');
  });
});

describe('the admin key of the environment', () => {
  const text = `pdk_envadmin_${'x'.repeat(43)}`;

  it('is accepted, is not stored, and cannot be revoked', async () => {
    const opened = open(fixedAdminKey(text, 'PADDOCK_ADMIN_KEY'));
    const { principal } = admit(opened, { apiKey: [text] });
    expect(opened.keys.describe(principal)).toMatchObject({ role: 'admin', key: { name: 'PADDOCK_ADMIN_KEY' } });
    await expect(opened.keys.revoke('envadmin')).rejects.toMatchObject({ code: 'FAILED_PRECONDITION' });
    expect(metadata.keys.size).toBe(0);
  });

  it('must have the shape of a key', () => {
    expect(fixedAdminKey('secret', 'x')).toBeUndefined();
  });
});
