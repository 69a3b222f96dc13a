import { Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createLog } from '../../lib/log.ts';
import type { ReadableFile } from '../../lib/readable-file.ts';
import type { Keys } from '../../lib/services.ts';
import { type Rest, restOver } from './clients.ts';
import { fakeServices } from './fake-services.ts';
import { keyedAccess, keyFor } from './keyed-services.ts';

const owner = keyFor({ owner_id: 'ann' });
const agent = keyFor({ role: 'agent', owner_id: 'ann', sandbox_id: 'sb_ann' });
const expiring = keyFor({ owner_id: 'ann', expires_at: Math.floor(Date.now() / 1000) + 20 });
const revoked = keyFor({ owner_id: 'ann' });

const FILE = '/v1/sandboxes/sb_ann/files/a.txt';
const file: ReadableFile = {
  size: 1,
  etag: 'e',
  modified_at: 0,
  read: () => Readable.from([Buffer.from('a')]),
  close: async () => {},
};

let now: number;
let log: string[] = [];
let keys: Keys;
let rest: Rest;

beforeAll(async () => {
  const lines = createLog({ level: 'debug', format: 'json' }, { write: (line) => void log.push(line) });
  const opened = keyedAccess(
    [owner, agent, expiring, revoked],
    { sandboxes: { sb_ann: 'ann' } },
    { log: lines, now: () => now },
  );
  keys = opened.keys;
  rest = await restOver(fakeServices({ sandboxes: { readFile: async () => file }, ...opened }), lines);
});
afterAll(() => rest.close());
beforeEach(() => {
  now = Date.now();
  log = [];
});

const ticketFor = async (path: string, key = owner.text) => {
  const headers = { 'x-api-key': key };
  const answer = await fetch(`${rest.url}/v1/tickets`, { method: 'POST', headers, body: JSON.stringify({ path }) });
  return { status: answer.status, ...((await answer.json()) as { ticket: string; message: string }) };
};
const get = async (path: string, init: RequestInit = {}) => {
  const answer = await fetch(rest.url + path, init);
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
};
const UNAUTHENTICATED = { status: 401, text: expect.stringMatching(/the ticket is not valid/) };

it('a ticket opens one GET request of its path, and neither caches nor other sites get its URL', async () => {
  const { ticket } = await ticketFor(FILE);
  const opened = await get(`${FILE}?ticket=${ticket}`);
  expect(opened).toMatchObject({ status: 200, text: 'a' });
  expect([opened.headers.get('cache-control'), opened.headers.get('referrer-policy')]).toEqual([
    'no-store',
    'no-referrer',
  ]);
  const again = await get(`${FILE}?ticket=${ticket}`);
  expect(again).toMatchObject(UNAUTHENTICATED);
  expect([again.headers.get('cache-control'), again.headers.get('referrer-policy')]).toEqual([
    'no-store',
    'no-referrer',
  ]);
  expect(log.join('') + again.text).not.toContain(ticket);
});

it('of two requests with one ticket at once, one is carried out', async () => {
  const { ticket } = await ticketFor(FILE);
  const both = await Promise.all([get(`${FILE}?ticket=${ticket}`), get(`${FILE}?ticket=${ticket}`)]);
  expect(both.map(({ status }) => status).sort()).toEqual([200, 401]);
});

it('a ticket for another path or query is used up and opens nothing', async () => {
  for (const path of [
    `${FILE}?`,
    `${FILE}?as=agent&`,
    '/v1/sandboxes/sb_ann/files/b?as=owner&',
    `${FILE}?as=owner&as=agent&`,
  ]) {
    const { ticket } = await ticketFor(`${FILE}?as=owner`);
    expect((await get(`${path}ticket=${ticket}`)).status).toBeGreaterThanOrEqual(400);
    if (!path.includes('as=owner&as'))
      expect(await get(`${FILE}?as=owner&ticket=${ticket}`)).toMatchObject(UNAUTHENTICATED);
  }
  const { ticket } = await ticketFor(`${FILE}?as=owner`);
  expect((await get(`${FILE}?ticket=${ticket}&as=owner`)).status).toBe(200);
});

it('a ticket expires after 30 seconds', async () => {
  const { ticket } = await ticketFor(FILE);
  now += 30_000;
  expect(await get(`${FILE}?ticket=${ticket}`)).toMatchObject(UNAUTHENTICATED);
});

it('a ticket dies with its key', async () => {
  const first = await ticketFor(FILE, revoked.text);
  await keys.revoke(revoked.record.id);
  expect((await get(`${FILE}?ticket=${first.ticket}`)).text).toMatch(/the key is not valid/);
  const second = await ticketFor(FILE, expiring.text);
  now += 21_000;
  expect((await get(`${FILE}?ticket=${second.ticket}`)).text).toMatch(/the key has expired/);
});

it('a ticket has no more rights than its key', async () => {
  const asOwner = await ticketFor(`${FILE}?as=owner`, agent.text);
  expect((await get(`${FILE}?as=owner&ticket=${asOwner.ticket}`)).status).toBe(403);
  const other = await ticketFor('/v1/sandboxes/sb_bob/files/a', agent.text);
  expect((await get(`/v1/sandboxes/sb_bob/files/a?ticket=${other.ticket}`)).status).toBe(404);
});

it('other requests need a key, and a request has one of both', async () => {
  for (const [path, method] of [
    ['/v1/sandboxes', 'GET'],
    [FILE, 'HEAD'],
    [FILE, 'PUT'],
  ] as const) {
    const { ticket } = await ticketFor(path === FILE ? FILE : '/v1/sandboxes');
    expect((await get(`${path}?ticket=${ticket}`, { method })).status).toBe(401);
  }
  const { ticket } = await ticketFor(FILE);
  const both = await get(`${FILE}?ticket=${ticket}`, { headers: { 'x-api-key': owner.text } });
  expect(both).toMatchObject({ status: 401, text: expect.stringMatching(/a key or a ticket, not both/) });
  const forged = await get(`${FILE}?ticket=${ticket.slice(0, -1)}`);
  expect(forged).toMatchObject(UNAUTHENTICATED);
});

it.each(['', 'v1/a', '/health', 'http://h/v1/a', '/v1/a b', '/v1/a#b', '/v1/é'])(
  'no ticket for the path %j',
  async (path) => {
    expect(await ticketFor(path)).toMatchObject({ status: 400, message: expect.stringMatching(/^path /) });
  },
);

it('a key has at most 100 unused tickets', async () => {
  now += 3600_000;
  for (let i = 0; i < 100; i++) await ticketFor(FILE);
  expect(await ticketFor(FILE)).toMatchObject({ status: 429, message: 'the key has 100 unused tickets, the maximum' });
  expect((await ticketFor(FILE, agent.text)).status).toBe(200);
  now += 30_000;
  expect((await ticketFor(FILE)).status).toBe(200);
});
