import { ServiceError } from '../errors.ts';
import { type CountedCall, UNCOUNTED } from '../limits/admission.ts';
import { notFound } from '../not-found.ts';
import { type Decision, decide } from './decide.ts';
import type { Need } from './need.ts';
import { ANYONE, type Principal } from './principal.ts';
import { type Owners, targetOf } from './target.ts';

/** The rights of one call. */
export interface Guard extends CountedCall {
  readonly principal: Principal;
  /**
   * Checks a validated request; must precede every use of it. Returns the request to use: `owner_id` is the caller's own
   * unless it is an admin, and `as` is "agent" if it is an agent. Throws NOT_FOUND for what the caller must not know of,
   * and PERMISSION_DENIED for what its role or scopes do not permit. Once the call's key was revoked or has expired, throws
   * UNAUTHENTICATED: a call whose body ends after that has no effect.
   */
  narrow<R extends object>(request: R): R;
}

/** The guard of callers that may do everything. */
export const OPEN: Guard = Object.freeze({
  ...UNCOUNTED,
  principal: ANYONE,
  narrow: <R extends object>(request: R) => request,
});

/** Throws PERMISSION_DENIED unless `decision` allows the call. `hide` is impossible before the target is known. */
export function requireAllowed(decision: Decision): void {
  if (decision.effect === 'deny') throw new ServiceError('PERMISSION_DENIED', decision.reason);
}

interface GuardParts extends CountedCall {
  principal: Principal;
  need: Need;
  owners: Owners;
  /** Wall-clock time in milliseconds since the epoch. */
  now: () => number;
  /** Why the call must end, once its key was revoked or has expired. */
  ended: () => ServiceError | undefined;
}

export function createGuard({ principal, need, owners, now, ended, ...counted }: GuardParts): Guard {
  return {
    ...counted,
    principal,
    narrow(request) {
      if (need.role === 'public') return request;
      const reason = ended();
      if (reason !== undefined) throw reason;
      const target = targetOf(need.on, request, owners, Math.floor(now() / 1000));
      const decision = decide(principal, need, target);
      if (decision.effect === 'hide')
        throw 'id' in target ? notFound(target.on, target.id) : new Error('nothing to hide');
      requireAllowed(decision);
      if (decision.effect !== 'allow' || decision.use === undefined) return request;
      const [[name, value]] = Object.entries(decision.use) as [[string, string]];
      return name in request ? { ...request, [name]: value } : request;
    },
  };
}
