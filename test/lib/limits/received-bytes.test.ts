import { expect, it } from 'vitest';
import type { ServiceError } from '../../../lib/errors.ts';
import type { Sender } from '../../../lib/limits/fair-memory.ts';
import { ReceivedBytes } from '../../../lib/limits/received-bytes.ts';

const KIB = 1024;
const COST = 16 * KIB;

function world(max: number, maxInExecution?: number) {
  const all = new ReceivedBytes(max, maxInExecution);
  const cut: string[] = [];
  const connections = new Map<string, object>();
  const begin = (
    name: string,
    { owner = 'ann', key, connection = name }: Partial<Record<'owner' | 'key' | 'connection', string>> = {},
  ) => {
    if (!connections.has(connection)) connections.set(connection, {});
    const sender: Sender = { owner, key: key ?? owner, connection: connections.get(connection)! };
    return all.begin(sender, (reason: ServiceError) => cut.push(`${name} ${reason.code}`));
  };
  return { all, cut, begin };
}

it('a request is cut if nobody else holds more than its sender', () => {
  const { cut, begin, all } = world(200 * KIB);
  begin('a').hold(150 * KIB);
  expect(cut).toEqual([]);
  begin('b').hold(30 * KIB);
  expect(cut).toEqual(['a RESOURCE_EXHAUSTED']);
  expect(all.unfinished).toBe(30 * KIB + COST);
});

it.each<[string, Parameters<ReturnType<typeof world>['begin']>[1]]>([
  ['owner', { owner: 'bob' }],
  ['key', { key: 'other' }],
  ['connection', { connection: 'other' }],
])('many requests of one sender do not cut a larger one of another %s', (_, other) => {
  const { cut, begin } = world(1000 * KIB);
  begin('other', other).hold(300 * KIB);
  for (let index = 0; index < 50; index++) begin(`many ${index}`, { connection: 'one' }).hold(60 * KIB);
  expect(cut.length).toBeGreaterThan(30);
  expect(cut.filter((each) => !each.startsWith('many'))).toEqual([]);
});

it('requests without bytes count, too', () => {
  const { cut, begin } = world(10 * COST);
  for (let index = 0; index < 12; index++) begin(`${index}`);
  expect(cut).toHaveLength(2);
});

it('a request that is complete is not cut, and leaves its room to others', () => {
  const { cut, begin, all } = world(200 * KIB);
  const first = begin('first');
  first.hold(150 * KIB);
  first.complete();
  begin('second').hold(180 * KIB);
  expect(cut).toEqual([]);
  first.end();
  expect(all.unfinished).toBe(180 * KIB + COST);
});

it('large requests in execution have a share of each owner, until they end', () => {
  const { begin } = world(10_000 * KIB, 1000 * KIB);
  const run = (owner: string) => {
    const request = begin('x', { owner });
    request.hold(300 * KIB);
    request.complete();
    return request;
  };
  const first = run('ann');
  expect(() => run('ann')).toThrow(
    "the request has 307200 bytes, and 204800 are left of the caller's share of the memory for large requests in execution; try again when one of them has ended",
  );
  run('bob');
  first.end();
  first.end();
  run('ann');
});

it('nothing is left of requests that have ended, in any order', () => {
  const { begin, all, cut } = world(2000 * KIB);
  const requests = Array.from({ length: 30 }, (_, index) =>
    begin(`${index}`, { owner: `${index % 3}`, key: `${index % 5}`, connection: `${index % 7}` }),
  );
  for (const [index, request] of requests.entries()) request.hold(index * KIB);
  for (const request of [...requests].reverse()) request.end();
  requests[3]!.hold(5000 * KIB);
  expect({ unfinished: all.unfinished, cut }).toEqual({ unfinished: 0, cut: [] });
});
