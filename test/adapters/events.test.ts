import { afterEach, beforeEach, expect, it } from 'vitest';
import { type HandlerEvent, operations } from '../../handlers/index.ts';
import { type Rest, restOver } from './clients.ts';
import { fakeServices } from './fake-services.ts';

let seen: HandlerEvent['queryStringParameters'];
let rest: Rest;
/** Streams whose first message was produced. */
let started = 0;

beforeEach(async () => {
  rest = await restOver(fakeServices({}), undefined, {
    operations: [
      {
        ...operations.find(({ operation }) => operation === 'WatchProcess')!,
        path: '/v1/processes/{process_id}/events',
        kind: 'events',
        cursor: { from: 'after', id: 'offset', end: 'end' },
        handler: async ({ pathParameters, queryStringParameters }) => {
          seen = { ...pathParameters, ...queryStringParameters };
          return events();
        },
      },
      ...operations,
    ],
  });
});
afterEach(() => rest.close());

async function* events() {
  started++;
  yield { data: Buffer.from('a'), offset: 1 };
  yield { data: Buffer.alloc(0), offset: 1, keepalive: true };
  yield { offset: 1, end: { exit_code: 0, reason: 'é' } };
}

const get = (query = '', headers: Record<string, string> = {}) =>
  fetch(`${rest.url}/v1/processes/p_1/events${query}`, { headers });

it('sends the events of a GET request as lines, keepalives among them', async () => {
  const answer = await get('?after=5');
  expect(answer.headers.get('content-type')).toBe('application/x-ndjson');
  expect(await answer.text()).toBe(
    '{"data":"YQ==","offset":1}\n{"data":"","offset":1,"keepalive":true}\n{"offset":1,"end":{"exit_code":0,"reason":"é"}}\n',
  );
  expect(seen).toEqual({ process_id: 'p_1', after: '5' });
});

it('sends server-sent events with the position after each, and keepalives as comments', async () => {
  const answer = await get('', { accept: 'text/event-stream' });
  expect(await answer.text()).toBe(
    'id: 1\ndata: {"data":"YQ==","offset":1}\n\n: keepalive\n\nid: 1-end\ndata: {"offset":1,"end":{"exit_code":0,"reason":"é"}}\n\n',
  );
});

/** The frames of a body: JSON and octets. */
function frames(body: Buffer): [unknown, string][] {
  const all: [unknown, string][] = [];
  for (let at = 0; at < body.length; ) {
    const [json, octets] = [at + 8 + body.readUInt32BE(at), body.readUInt32BE(at + 4)];
    all.push([
      JSON.parse(body.subarray(at + 8, json).toString()),
      body.subarray(json, json + octets).toString('latin1'),
    ]);
    at = json + octets;
  }
  return all;
}

it('sends octets as they are, each after the rest of its message, to a client that asks for them', async () => {
  const answer = await get('', { accept: 'application/octet-stream' });
  expect(answer.headers.get('content-type')).toBe('application/octet-stream');
  expect(frames(Buffer.from(await answer.arrayBuffer()))).toEqual([
    [{ offset: 1 }, 'a'],
    [{ offset: 1, keepalive: true }, ''],
    [{ offset: 1, end: { exit_code: 0, reason: 'é' } }, ''],
  ]);
});

it('goes on after the last event that the client has, whatever its URL says', async () => {
  await (await get('?after=0', { 'last-event-id': '7' })).text();
  expect(seen).toEqual({ process_id: 'p_1', after: '7' });
  await (await get('?after=3', { 'last-event-id': '' })).text();
  expect(seen).toEqual({ process_id: 'p_1', after: '3' });
});

it('answers a client that has the last event with 204, after which an EventSource does not ask again', async () => {
  started = 0;
  const answer = await get('', { accept: 'text/event-stream', 'last-event-id': '1-end' });
  expect({ status: answer.status, body: await answer.text() }).toEqual({ status: 204, body: '' });
  expect(seen).toEqual({ process_id: 'p_1', after: '1' });
  expect(started).toBe(0);
});
