import { expect, it } from 'vitest';
import { AGENT, type AgentAccess } from '../../../lib/workspaces/access/access.ts';
import { OWNER } from '../../../lib/workspaces/files/owner-access.ts';

it('the type of the kernel requests’ access excludes the owner’s access', () => {
  // @ts-expect-error: the owner's access is not assignable to the agent's.
  const kernel: AgentAccess = OWNER;
  expect(kernel.actor).not.toBe(AGENT.actor);
});
