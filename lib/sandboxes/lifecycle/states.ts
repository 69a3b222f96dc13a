import type { SandboxStatus } from '../../contract/messages.ts';

export type SandboxEvent = 'start' | 'launched' | 'failed' | 'stop' | 'lost';

/**
 * The state machine of a sandbox. Destroying is possible in every state and removes the sandbox. Transitions that are
 * not listed are impossible.
 */
const TRANSITIONS: Readonly<Record<SandboxStatus, Partial<Record<SandboxEvent, SandboxStatus>>>> = {
  // Being created, started, or restarted after a restart of the server.
  SANDBOX_PENDING: { launched: 'SANDBOX_RUNNING', failed: 'SANDBOX_ERROR', stop: 'SANDBOX_STOPPED' },
  // lost: its workspace was lost, and it is restarted on a new one.
  SANDBOX_RUNNING: { lost: 'SANDBOX_PENDING', failed: 'SANDBOX_ERROR', stop: 'SANDBOX_STOPPED' },
  SANDBOX_STOPPED: { start: 'SANDBOX_PENDING' },
  SANDBOX_ERROR: { start: 'SANDBOX_PENDING', failed: 'SANDBOX_ERROR' },
};

/** The status after an event. Throws for an impossible transition, which is a defect. */
export function nextStatus(status: SandboxStatus, event: SandboxEvent): SandboxStatus {
  const next = TRANSITIONS[status][event];
  if (next === undefined) throw new Error(`a sandbox that is ${status} cannot ${event}`);
  return next;
}
