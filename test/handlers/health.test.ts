import { expect, it } from 'vitest';
import { health } from '../../handlers/health.ts';
import { call } from './call.ts';

it('the health check answers ok', async () => {
  expect(await call(health, {}, {})).toEqual({ status: 'ok' });
});
