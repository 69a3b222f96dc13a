import { expect, it } from 'vitest';
import { closePort } from '../../handlers/ports.ts';
import { call, json, message } from './call.ts';

it('ClosePort makes the same call for JSON with a path and for a decoded message', async () => {
  const seen: unknown[] = [];
  const fake = (...args: unknown[]) => {
    seen.push(args);
    return {};
  };
  const body = { port: 8000 };
  const pathParameters = { sandbox_id: 'sb_1' };
  await call(closePort, { ...json(body), pathParameters }, { ports: { close: fake as never } });
  await call(closePort, message({ ...body, ...pathParameters }), { ports: { close: fake as never } });
  const expected = ['sb_1', 8000];
  expect(seen).toEqual([expected, expected]);
});
