import { expect, it } from 'vitest';
import { getPort } from '../../handlers/ports.ts';
import { call, json, message } from './call.ts';

it('GetPort makes the same call for JSON with a path and for a decoded message', async () => {
  const seen: unknown[] = [];
  const fake = (...args: unknown[]) => {
    seen.push(args);
    return {};
  };
  const body = { port: 8000 };
  const pathParameters = { sandbox_id: 'sb_1' };
  await call(getPort, { ...json(body), pathParameters }, { ports: { get: fake as never } });
  await call(getPort, message({ ...body, ...pathParameters }), { ports: { get: fake as never } });
  const expected = ['sb_1', 8000];
  expect(seen).toEqual([expected, expected]);
});
