import { expect, it } from 'vitest';
import { createGuard } from '../../../lib/access/guard.ts';
import type { Need } from '../../../lib/access/need.ts';
import { ANYONE } from '../../../lib/access/principal.ts';
import { ServiceError } from '../../../lib/errors.ts';
import { UNCOUNTED } from '../../../lib/limits/admission.ts';

const owners = {
  sandbox: (id: string) => (id === 'sb_bob' ? 'bob' : undefined),
  codebase: () => undefined,
  key: () => undefined,
  session: (id: string) => (id === 'se_1' ? { sandbox: 'sb_1', owner: 'ann' } : undefined),
};
const ann = { ...ANYONE, role: 'owner', owner_id: 'ann' } as const;
const call = { ...UNCOUNTED, now: () => 0 };
const guardFor = (need: Need, principal: Parameters<typeof createGuard>[0]['principal'] = ann) =>
  createGuard({ principal, need, owners, ...call, ended: () => undefined });

it('restricts a list to the own owner', () => {
  const need: Need = { role: 'owner', on: 'owner' };
  expect(guardFor(need).narrow({ owner_id: '', page_size: 3 })).toEqual({ owner_id: 'ann', page_size: 3 });
  expect(guardFor(need, ANYONE).narrow({ owner_id: '' })).toEqual({ owner_id: '' });
  expect(() => guardFor(need).narrow({ owner_id: 'bob' })).toThrow('only admins name another');
});

it("sees as the agent with an agent's key, where a request has a view", () => {
  const agent = { ...ANYONE, role: 'agent', sandbox_id: 'sb_1' } as const;
  const { narrow } = guardFor({ role: 'agent', on: 'sandbox' }, agent);
  expect(narrow({ sandbox_id: 'sb_1', as: '' })).toEqual({ sandbox_id: 'sb_1', as: 'agent' });
  expect(narrow({ sandbox_id: 'sb_1' })).toEqual({ sandbox_id: 'sb_1' });
  expect(() => narrow({ sandbox_id: 'sb_1', as: 'owner' })).toThrow('may not use as "owner"');
});

it("answers for another owner's id as for one that does not exist", () => {
  const { narrow } = guardFor({ role: 'owner', on: 'sandbox' });
  const refusal = (sandbox_id: string) => {
    try {
      narrow({ sandbox_id });
    } catch (error) {
      return String(error).replace(sandbox_id, 'ID');
    }
    throw new Error('it is allowed');
  };
  expect(refusal('sb_bob')).toBe('ServiceError: sandbox "ID" does not exist');
  expect(refusal('sb_none')).toBe(refusal('sb_bob'));
});

it('lets an agent use the sessions of its sandbox, and an owner those of its sandboxes', () => {
  const need: Need = { role: 'agent', on: 'session' };
  const agent = (sandbox_id: string) => guardFor(need, { ...ANYONE, role: 'agent', sandbox_id });
  const hidden = 'session "se_1" does not exist, or has ended with the server';
  expect(agent('sb_1').narrow({ session_id: 'se_1' })).toEqual({ session_id: 'se_1' });
  expect(() => agent('sb_2').narrow({ session_id: 'se_1' })).toThrow(hidden);
  expect(guardFor(need).narrow({ session_id: 'se_1' })).toEqual({ session_id: 'se_1' });
  expect(() => guardFor(need, { ...ann, owner_id: 'bob' }).narrow({ session_id: 'se_1' })).toThrow(hidden);
  expect(() => guardFor(need).narrow({ session_id: 'se_2' })).toThrow('session "se_2" does not exist');
});

it('refuses a request that is complete only after its key was revoked', () => {
  const revoked = new ServiceError('UNAUTHENTICATED', 'the key was revoked');
  let ended: ServiceError | undefined;
  const need: Need = { role: 'owner', on: 'owner' };
  const guard = createGuard({ principal: ann, need, owners, ...call, ended: () => ended });
  expect(guard.narrow({ owner_id: '' })).toEqual({ owner_id: 'ann' });
  ended = revoked;
  expect(() => guard.narrow({ owner_id: '' })).toThrow(revoked);
});
