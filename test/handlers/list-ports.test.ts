import { expect, it } from 'vitest';
import { listPorts } from '../../handlers/ports.ts';
import { call, json, message } from './call.ts';

it('ListPorts makes the same call for JSON with a path and for a decoded message', async () => {
  const seen: unknown[] = [];
  const fake = (...args: unknown[]) => {
    seen.push(args);
    return {};
  };
  const { signal } = new AbortController();
  const body = { listening: true };
  const pathParameters = { sandbox_id: 'sb_1' };
  await call(listPorts, { ...json(body), pathParameters }, { ports: { list: fake as never }, signal });
  await call(listPorts, message({ ...body, ...pathParameters }), { ports: { list: fake as never }, signal });
  const expected = [{ sandbox_id: 'sb_1', opened: false, listening: true }, signal];
  expect(seen).toEqual([expected, expected]);
});
