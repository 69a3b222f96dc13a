import type { Need } from './need.ts';
import { type Principal, ROLES, type Role, type Scope } from './principal.ts';
import type { Target } from './target.ts';

/**
 * `hide`: the caller must not learn whether the target exists, so the answer is that of a missing one. `use`: values of
 * fields, as far as the request has them, that the operation must use instead of the requested ones.
 */
export type Decision =
  | { effect: 'allow'; use?: { owner_id: string } | { as: 'agent' } }
  | { effect: 'hide' }
  | { effect: 'deny'; reason: string };

const ALLOW: Decision = { effect: 'allow' };
const HIDE: Decision = { effect: 'hide' };

/**
 * Decides whether `principal` may call an operation that needs `need`. Without `target` it decides what does not depend
 * on the request. Pure. Reasons name nothing but the caller's own rights.
 */
export function decide(principal: Principal, need: Need, target?: Target): Decision {
  if (need.role === 'public') return ALLOW;
  if (!includes(principal.role, need.role)) {
    return deny(`a key of role ${principal.role} may not call this operation: it needs role ${need.role}`);
  }
  if (need.scope !== undefined && !hasScope(principal, need.scope)) return lacks(need.scope);
  return target === undefined ? ALLOW : decideTarget(principal, target);
}

/** Whether `role` may do all that `least` may. */
function includes(role: Role, least: Role): boolean {
  return ROLES.indexOf(role) <= ROLES.indexOf(least);
}

/** Whether the key's scopes include one. */
export function hasScope({ scopes }: Principal, scope: Scope): boolean {
  return scopes.length === 0 || scopes.includes(scope);
}

function decideTarget(principal: Principal, target: Target): Decision {
  switch (target.on) {
    case 'nothing':
      return ALLOW;
    case 'owner':
      return decideOwner(principal, target.owner_id);
    case 'new-key':
      return decideNewKey(principal, target);
    default:
      return decideExisting(principal, target);
  }
}

type Existing = Extract<Target, { id: string }>;

function decideExisting(principal: Principal, { on, id, sandbox, owner, asOwner, commits }: Existing): Decision {
  if (principal.role === 'agent') {
    const used = on === 'sandbox' ? id : sandbox;
    if (used === undefined || used !== principal.sandbox_id) return HIDE;
    if (asOwner) return deny('a key of role agent may not use as "owner"');
    if (commits) return lacks('changes:commit');
    return { effect: 'allow', use: { as: 'agent' } };
  }
  if (principal.role === 'owner' && owner !== principal.owner_id) return HIDE;
  return commits && !hasScope(principal, 'changes:commit') ? lacks('changes:commit') : ALLOW;
}

function decideOwner({ role, owner_id: own }: Principal, asked: string): Decision {
  if (role === 'admin') return ALLOW;
  if (role === 'agent') return deny('a key of role agent has one sandbox only');
  if (asked !== '' && asked !== own) return deny('owner_id must be empty or that of the key: only admins name another');
  return { effect: 'allow', use: { owner_id: own } };
}

/** A key must not create a key that may do more, or longer, than itself. */
function decideNewKey(principal: Principal, target: Extract<Target, { on: 'new-key' }>): Decision {
  const owner = decideOwner(principal, target.owner_id);
  if (owner.effect !== 'allow') return owner;
  if (!includes(principal.role, target.role)) {
    return deny(`a key of role ${principal.role} may not create a key of role ${target.role}`);
  }
  if (principal.scopes.length > 0) {
    const more = target.scopes.find((scope) => !principal.scopes.includes(scope));
    if (more !== undefined) return lacks(more);
    if (target.scopes.length === 0) return deny('scopes must be among those of the key that creates the new one');
  }
  if (principal.expires_at !== 0 && (target.expires_at === 0 || target.expires_at > principal.expires_at)) {
    return deny('expires_in must not be after the expiry of the key that creates the new one');
  }
  return owner;
}

function lacks(scope: Scope): Decision {
  return deny(`the key does not have the scope ${scope}`);
}

function deny(reason: string): Decision {
  return { effect: 'deny', reason };
}
