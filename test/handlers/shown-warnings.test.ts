import { expect, it } from 'vitest';
import { createSandbox } from '../../handlers/create-sandbox.ts';
import { fork } from '../../handlers/fork.ts';
import { updatePermissions } from '../../handlers/permissions.ts';
import { OPEN } from '../../lib/access/guard.ts';
import { ANYONE, type Scope } from '../../lib/access/principal.ts';
import { aSandbox } from '../adapters/fake-services.ts';
import { call, json } from './call.ts';

const secret = (path: string) => ({
  code: 'readable_secret',
  rule: 0,
  path,
  message: `"${path}" looks like a secret.`,
});
const nothing = { code: 'matches_nothing', rule: 1, path: '', message: 'permissions[1] ("x") matches nothing.' };
const never = { code: 'never_decides', rule: 2, path: '', message: 'permissions[2] never decides.' };
const incomplete = { code: 'incomplete', rule: -1, path: '', message: 'There may be more warnings.' };
const sandbox = { ...aSandbox, warnings: [secret('keys/a.pem'), secret('keys/b.pem'), never, nothing, incomplete] };

/** The warnings of all operations that have some, for a key with these scopes. */
async function shown(...scopes: Scope[]) {
  const guard = { ...OPEN, principal: { ...ANYONE, scopes } };
  const sandboxes = {
    create: async () => sandbox,
    updatePermissions: async () => sandbox,
    fork: async () => [{ sandbox }],
  };
  const given = { guard, sandboxes };
  const { results } = await call(fork, json({ sandbox_id: 'sb_1' }), given);
  return [
    (await call(createSandbox, json({ codebase_id: 'cb_1' }), given)).warnings,
    (await call(updatePermissions, json({ sandbox_id: 'sb_1' }), given)).warnings,
    results[0]!.sandbox!.warnings,
  ];
}

it('warnings tell nothing of the codebase to a key that may not read files', async () => {
  const told = [never];
  expect(await shown('sandboxes:write', 'permissions:write')).toEqual([told, told, told]);
  const all = sandbox.warnings;
  expect(await shown('sandboxes:write', 'files:read')).toEqual([all, all, all]);
  expect(await shown()).toEqual([all, all, all]);
});
