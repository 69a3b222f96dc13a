import { describe, expect, it } from 'vitest';
import { listPresets } from '../../handlers/permissions.ts';
import { call } from './call.ts';

describe('ListPresets', () => {
  it('answers with all presets', async () => {
    const preset = { name: 'p', description: 'd', permissions: [] };
    expect(await call(listPresets, {}, { sandboxes: { presets: () => [preset] } })).toEqual({ presets: [preset] });
  });

  it('refuses any field', async () => {
    await expect(call(listPresets, { queryStringParameters: { x: '1' } }, {})).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    });
  });
});
