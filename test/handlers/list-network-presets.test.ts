import { expect, it } from 'vitest';
import { listNetworkPresets } from '../../handlers/network.ts';
import { call } from './call.ts';

it('ListNetworkPresets answers with all presets', async () => {
  const preset = { name: 'p', description: 'd', rules: [] };
  expect(await call(listNetworkPresets, {}, { networks: { presets: () => [preset] } })).toEqual({ presets: [preset] });
});
