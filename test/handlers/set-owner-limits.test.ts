import { expect, it } from 'vitest';
import { setOwnerLimits } from '../../handlers/owners.ts';
import type { OwnerLimits, OwnerSettings } from '../../lib/contract/messages.ts';
import { unlimitedOwners } from '../../lib/limits/stored-limits.ts';
import { call, json, message } from './call.ts';

it('SetOwnerLimits passes on the limits, and leaves out those that are absent', async () => {
  const seen: [string, OwnerLimits][] = [];
  const set = async (owner_id: string, limits: OwnerLimits): Promise<OwnerSettings> => {
    seen.push([owner_id, limits]);
    return { owner_id, set: limits, effective: limits };
  };
  const limits = { commands: 2, streams: 0 };
  const event = { ...json({ limits }), pathParameters: { owner_id: 'ann' } };
  const answered = [
    await call(setOwnerLimits, event, { owners: { set } }),
    await call(setOwnerLimits, message({ owner_id: 'ann', limits }), { owners: { set } }),
  ];
  for (const answer of answered) expect(answer).toEqual({ owner_id: 'ann', set: limits, effective: limits });
  expect(seen).toEqual([
    ['ann', limits],
    ['ann', limits],
  ]);
});

it('SetOwnerLimits refuses negative and unknown limits', async () => {
  const refused = (limits: object) => call(setOwnerLimits, message({ owner_id: 'ann', limits }), {});
  await expect(refused({ commands: -1 })).rejects.toThrow('limits.commands must be at least 0');
  await expect(refused({ comands: 1 })).rejects.toThrow(/comands/);
  await expect(call(setOwnerLimits, message({ owner_id: '' }), {})).rejects.toThrow('owner_id is required');
});

it('SetOwnerLimits is refused without authentication', async () => {
  await expect(call(setOwnerLimits, message({ owner_id: 'ann' }), { owners: unlimitedOwners(1) })).rejects.toThrow(
    'the server has no limits of owners: its configuration has auth.mode: off',
  );
});
