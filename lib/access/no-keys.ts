import { ServiceError } from '../errors.ts';
import type { Access, Keys } from '../services.ts';
import { OPEN } from './guard.ts';

/** Without authentication every caller may do everything. */
export const openAccess: Access = { admit: () => OPEN, count: () => () => undefined };

/**
 * Without authentication nobody can manage keys: whoever reaches the port could otherwise create an admin key for the
 * time after authentication is switched on.
 */
export const noKeys: Keys = {
  create: async () => refuse(),
  list: refuse,
  revoke: async () => refuse(),
  createTicket: refuse,
  expire: async () => undefined,
  describe: ({ role, owner_id, sandbox_id, scopes }) => ({ role, owner_id, sandbox_id, scopes }),
};

function refuse(): never {
  throw new ServiceError('FAILED_PRECONDITION', 'the server has no keys: its configuration has auth.mode: off');
}
