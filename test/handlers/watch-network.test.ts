import { expect, it } from 'vitest';
import { watchNetwork } from '../../handlers/watch-network.ts';
import { call, message } from './call.ts';

it('WatchNetwork passes on the request, and sends keepalives while nothing happens', async () => {
  const seen: unknown[] = [];
  const { signal } = new AbortController();
  let end = () => {};
  const until = new Promise<void>((resolve) => {
    end = resolve;
  });
  async function* events() {
    await until;
    yield { sequence: 5, kind: '', lost: 0, keepalive: false, end: { reason: 'closed' } };
  }
  const watch = async (...args: unknown[]) => {
    seen.push(args);
    return events();
  };
  const event = {
    pathParameters: { sandbox_id: 'sb_1' },
    queryStringParameters: { after: '4', denied_only: 'true' },
  };
  const given = { networks: { watch }, keepaliveMs: 1, signal };
  await call(watchNetwork, message({ sandbox_id: 'sb_1', after: 4, denied_only: true }), given);
  const found = await call(watchNetwork, event, given);
  const expected = [{ sandbox_id: 'sb_1', after: 4, denied_only: true }, signal];
  expect(seen).toEqual([expected, expected]);
  const kinds = new Set<boolean>();
  for await (const { keepalive } of found as AsyncIterable<{ keepalive: boolean }>) {
    kinds.add(keepalive);
    if (keepalive) end();
  }
  expect([...kinds]).toEqual([true, false]);
});
