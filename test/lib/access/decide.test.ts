import { describe, expect, it } from 'vitest';
import { type Decision, decide } from '../../../lib/access/decide.ts';
import type { Need } from '../../../lib/access/need.ts';
import { ANYONE, type Principal, ROLES, SCOPES } from '../../../lib/access/principal.ts';
import type { Target } from '../../../lib/access/target.ts';

const nobody: Principal = { ...ANYONE, key_id: 'k' };
const principals = {
  admin: nobody,
  owner: { ...nobody, role: 'owner', owner_id: 'ann' },
  agent: { ...nobody, role: 'agent', owner_id: 'ann', sandbox_id: 'sb_1' },
} as const satisfies Record<string, Principal>;

const existing = { asOwner: false, commits: false } as const;
const own = { on: 'sandbox', id: 'sb_1', owner: 'ann', ...existing } as const;
const anyNewKey = { on: 'new-key', role: 'owner', owner_id: '', scopes: [], expires_at: 0 } as const;

/** Each kind of target; the effects for admin, owner and agent, for an operation that agents may call. */
const targets: [string, Target, string, string, string][] = [
  ['nothing', { on: 'nothing' }, 'allow', 'allow', 'allow'],
  ['a sandbox of the owner', own, 'allow', 'allow', 'allow agent'],
  ['the same as the owner of its files', { ...own, asOwner: true }, 'allow', 'allow', 'deny'],
  ['the same, with automatic commits', { ...own, commits: true }, 'allow', 'allow', 'deny'],
  ['another sandbox of the owner', { ...own, id: 'sb_2' }, 'allow', 'allow', 'hide'],
  ['the same as the owner of its files', { ...own, id: 'sb_2', asOwner: true }, 'allow', 'allow', 'hide'],
  ['a sandbox of another owner', { ...own, id: 'sb_2', owner: 'bob' }, 'allow', 'hide', 'hide'],
  ['a sandbox without an owner', { ...own, id: 'sb_2', owner: '' }, 'allow', 'hide', 'hide'],
  ['a sandbox that does not exist', { ...own, id: 'sb_2', owner: undefined }, 'allow', 'hide', 'hide'],
  ['a codebase of the owner', { ...own, on: 'codebase' }, 'allow', 'allow', 'hide'],
  ['a codebase of another owner', { ...own, on: 'codebase', owner: 'bob' }, 'allow', 'hide', 'hide'],
  ['a codebase with automatic commits', { ...own, on: 'codebase', commits: true }, 'allow', 'allow', 'hide'],
  ['a key of the owner', { ...own, on: 'key' }, 'allow', 'allow', 'hide'],
  ['an admin key', { ...own, on: 'key', owner: '' }, 'allow', 'hide', 'hide'],
  ['a key that does not exist', { ...own, on: 'key', owner: undefined }, 'allow', 'hide', 'hide'],
  ['no owner', { on: 'owner', owner_id: '' }, 'allow', 'allow ann', 'deny'],
  ['the own owner', { on: 'owner', owner_id: 'ann' }, 'allow', 'allow ann', 'deny'],
  ['another owner', { on: 'owner', owner_id: 'bob' }, 'allow', 'deny', 'deny'],
  ['a new key of no owner', anyNewKey, 'allow', 'allow ann', 'deny'],
  ['a new key of another owner', { ...anyNewKey, owner_id: 'bob' }, 'allow', 'deny', 'deny'],
  ['a new admin key', { ...anyNewKey, role: 'admin' }, 'allow', 'deny', 'deny'],
  ['a new key of an agent', { ...anyNewKey, role: 'agent' }, 'allow', 'allow ann', 'deny'],
];

function shown(decision: Decision): string {
  return 'use' in decision ? `allow ${Object.values(decision.use!)}` : decision.effect;
}

describe('the decision by role and target', () => {
  const need: Need = { role: 'agent', on: 'sandbox' };
  it.each(targets)('%s %#', (_, target, admin, owner, agent) => {
    const decisions = Object.values(principals).map((principal) => shown(decide(principal, need, target)));
    expect(decisions).toEqual([admin, owner, agent]);
  });
});

describe('the decision without a target', () => {
  it.each(ROLES)('allows an operation of role %s to this role and those above it', (role) => {
    const allowed = ROLES.filter((each) => decide(principals[each], { role, on: 'nothing' }).effect === 'allow');
    expect(allowed).toEqual(ROLES.slice(0, ROLES.indexOf(role) + 1));
  });

  it('allows a public operation to everybody', () => {
    for (const role of ROLES) expect(decide(principals[role], { role: 'public' })).toEqual({ effect: 'allow' });
  });

  it.each(SCOPES)('requires the scope %s of a key with scopes', (scope) => {
    const others = SCOPES.filter((each) => each !== scope);
    const by = (scopes: Principal['scopes']) =>
      decide({ ...nobody, scopes }, { role: 'agent', scope, on: 'nothing' }).effect;
    expect([by([]), by([scope]), by(others), by(SCOPES)]).toEqual(['allow', 'allow', 'deny', 'allow']);
  });
});

describe('a key cannot create one that may do more than itself', () => {
  const need: Need = { role: 'owner', scope: 'keys:write', on: 'new-key' };
  const by = (creator: Partial<Principal>, target: Partial<Extract<Target, { on: 'new-key' }>>) =>
    decide({ ...principals.owner, ...creator }, need, { ...anyNewKey, ...target }).effect;

  it('by its scopes', () => {
    const scopes = ['exec', 'keys:write'] as const;
    expect(by({ scopes }, { scopes: ['exec'] })).toBe('allow');
    expect(by({ scopes }, { scopes: [] })).toBe('deny');
    expect(by({ scopes }, { scopes: ['exec', 'files:read'] })).toBe('deny');
    expect(by({}, { scopes: [] })).toBe('allow');
  });

  it('by its expiry', () => {
    expect(by({ expires_at: 100 }, { expires_at: 100 })).toBe('allow');
    expect(by({ expires_at: 100 }, { expires_at: 101 })).toBe('deny');
    expect(by({ expires_at: 100 }, { expires_at: 0 })).toBe('deny');
    expect(by({ expires_at: 0 }, { expires_at: 0 })).toBe('allow');
  });
});

it('a key without the scope changes:commit cannot create a sandbox that commits automatically', () => {
  const need: Need = { role: 'owner', scope: 'sandboxes:write', on: 'codebase' };
  const target: Target = { ...own, on: 'codebase', commits: true };
  const by = (scopes: Principal['scopes']) => decide({ ...principals.owner, scopes }, need, target).effect;
  expect([by(['sandboxes:write']), by(['sandboxes:write', 'changes:commit']), by([])]).toEqual([
    'deny',
    'allow',
    'allow',
  ]);
});
