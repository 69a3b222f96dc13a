import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { FileStat } from '../../lib/contract/messages.ts';
import { type Rest, restOver, until } from '../adapters/clients.ts';
import { fakeServices } from '../adapters/fake-services.ts';
import { keyedAccess, keyFor } from '../adapters/keyed-services.ts';

const PLACES = 4;
const ann = keyFor({ owner_id: 'ann' });
const bob = keyFor({ owner_id: 'bob' });

let rest: Rest;
let answerOf: { files: FileStat[]; next_page_token: string };
/** Lists in progress, by sandbox, in order; each is answered by its call. */
let listing: { sandbox: string; answer: () => void }[];

beforeEach(async () => {
  listing = [];
  answerOf = { files: [], next_page_token: '' };
  const { access } = keyedAccess([ann, bob], { sandboxes: { sb_ann: 'ann', sb_bob: 'bob' } });
  const listDirectory = ({ sandbox_id }: { sandbox_id: string }) =>
    new Promise<{ files: FileStat[]; next_page_token: string }>((resolve) => {
      const answer = () => {
        listing.splice(listing.indexOf(entry), 1);
        resolve(answerOf);
      };
      const entry = { sandbox: sandbox_id, answer };
      listing.push(entry);
    });
  rest = await restOver(fakeServices({ access, sandboxes: { listDirectory } }));
});
afterEach(() => rest.close());

const list = async (key: string, sandbox: string) => {
  const headers = { 'x-api-key': key };
  const answer = await fetch(`${rest.url}/v1/sandboxes/${sandbox}/files`, { headers });
  return answer.status;
};

/** Resolves when the calls before it have arrived: it is refused, as its sandbox does not exist. */
const arrived = async (key: string) => {
  const headers = { 'x-api-key': key };
  expect((await fetch(`${rest.url}/v1/sandboxes/sb_none`, { headers })).status).toBe(404);
};

/** Asks for so many lists; those that have no place wait. */
async function flood(count: number): Promise<Promise<number>[]> {
  const all: Promise<number>[] = [];
  for (let index = 0; index < count; index++) {
    all.push(list(ann.text, 'sb_ann'));
    if (index < PLACES) await until(() => listing.length === index + 1);
  }
  await arrived(ann.text);
  return all;
}

it('of many lists of one owner a few are made at a time, and all are answered', async () => {
  const all = await flood(20);
  let most = 0;
  for (let answered = 0; answered < 20; answered++) {
    await until(() => listing.length > 0);
    most = Math.max(most, listing.length);
    listing[0]?.answer();
  }
  expect(await Promise.all(all)).toEqual(Array(20).fill(200));
  expect(most).toBe(PLACES);
});

it("another owner's list does not wait for them", async () => {
  const all = await flood(20);
  const other = list(bob.text, 'sb_bob');
  await until(() => listing.some(({ sandbox }) => sandbox === 'sb_bob'));
  listing.find(({ sandbox }) => sandbox === 'sb_bob')?.answer();
  expect(await other).toBe(200);
  for (let answered = 0; answered < all.length; answered++) {
    await until(() => listing.length > 0);
    listing[0]?.answer();
  }
  expect(await Promise.all(all)).toEqual(all.map(() => 200));
});

it('answers that nobody reads hold no place', async () => {
  const { hostname, port } = new URL(rest.url);
  const file = { path: 'x'.repeat(1024) } as FileStat;
  answerOf = { files: Array(4096).fill(file), next_page_token: '' };
  const sockets = Array.from({ length: PLACES }, () => {
    const socket = connect(Number(port), hostname);
    socket.write(
      `GET /v1/sandboxes/sb_ann/files HTTP/1.1\r\nhost: ${hostname}:${port}\r\nx-api-key: ${ann.text}\r\n\r\n`,
    );
    return socket;
  });
  await until(() => listing.length === PLACES);
  for (const { answer } of [...listing]) answer();
  await Promise.all(sockets.map((socket) => once(socket, 'readable')));
  answerOf = { files: [], next_page_token: '' };
  const other = list(ann.text, 'sb_ann');
  await until(() => listing.length > 0);
  listing[0]?.answer();
  expect(await other).toBe(200);
  for (const socket of sockets) socket.destroy();
});
