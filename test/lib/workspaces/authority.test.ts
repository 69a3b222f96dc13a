import { expect, it } from 'vitest';
import { AGENT, type AgentAccess } from '../../../lib/workspaces/access/access.ts';
import { OWNER } from '../../../lib/workspaces/files/owner-access.ts';

it('the access of the kernel’s requests cannot be the owner’s, by its type', () => {
  // @ts-expect-error: the type check fails when the owner's access is taken for the agent's.
  const kernel: AgentAccess = OWNER;
  expect(kernel.actor).not.toBe(AGENT.actor);
});
