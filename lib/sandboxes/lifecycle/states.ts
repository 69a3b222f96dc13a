import type { SandboxStatus } from '../../messages.ts';

export type SandboxEvent = 'start' | 'launched' | 'failed' | 'stop' | 'lost';

/** The life of a sandbox; destroying it is possible in every state and leaves none. What is not here cannot happen. */
const TRANSITIONS: Readonly<Record<SandboxStatus, Partial<Record<SandboxEvent, SandboxStatus>>>> = {
  // Being made, started, or brought up again after the server's own restart.
  SANDBOX_PENDING: { launched: 'SANDBOX_RUNNING', failed: 'SANDBOX_ERROR', stop: 'SANDBOX_STOPPED' },
  // Lost: its workspace is, and it is brought up again on a new one.
  SANDBOX_RUNNING: { lost: 'SANDBOX_PENDING', failed: 'SANDBOX_ERROR', stop: 'SANDBOX_STOPPED' },
  SANDBOX_STOPPED: { start: 'SANDBOX_PENDING' },
  SANDBOX_ERROR: { start: 'SANDBOX_PENDING', failed: 'SANDBOX_ERROR' },
};

export function nextStatus(status: SandboxStatus, event: SandboxEvent): SandboxStatus {
  const next = TRANSITIONS[status][event];
  if (next === undefined) throw new Error(`a sandbox that is ${status} cannot ${event}`);
  return next;
}
