import { expect, it } from 'vitest';
import { openPort } from '../../handlers/ports.ts';
import { call, json, message } from './call.ts';

it('OpenPort makes the same call for JSON with a path and for a decoded message', async () => {
  const seen: unknown[] = [];
  const fake = (...args: unknown[]) => {
    seen.push(args);
    return {};
  };
  const body = { port: 8000, access: 'link', expires_in: 5 };
  const pathParameters = { sandbox_id: 'sb_1' };
  await call(openPort, { ...json(body), pathParameters }, { ports: { open: fake as never } });
  await call(openPort, message({ ...body, ...pathParameters }), { ports: { open: fake as never } });
  const expected = [{ sandbox_id: 'sb_1', port: 8000, access: 'link', expires_in: 5 }];
  expect(seen).toEqual([expected, expected]);
});
