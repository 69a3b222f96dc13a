import type { RunningSandbox } from '../../runtime/runtime.ts';

/** A sandbox whose workspace is not attached, and that has no processes. */
export const DETACHED = { kind: 'detached' } as const;

/** Attached for file sessions while the sandbox is not running. Mutable: `sessions` is the number of open ones. */
export interface LeasedState {
  readonly kind: 'leased';
  /** Host path. */
  readonly workspace: string;
  sessions: number;
}

/**
 * What of a sandbox exists on the host: its workspace in the mount, its processes. Unlike the status, which clients see,
 * it is never stored: after a restart of the server every sandbox is detached.
 *
 * detached → attached → running → attached → detached in a start and a stop; detached ⇄ leased for file sessions;
 * leased → attached if it starts meanwhile; anything attached → lost if the file system fails, and detached → attached
 * when it is started on the next mount.
 */
export type HostState =
  | typeof DETACHED
  | LeasedState
  /** Without processes: about to be launched, or they have just ended. */
  | { readonly kind: 'attached' }
  /** Not attached: of RUNTIME_MOCK, which has no workspace. */
  | { readonly kind: 'running'; readonly running: RunningSandbox; readonly attached: boolean }
  /** Its file system has failed, and it is about to be restarted. Its commands have ended. */
  | { readonly kind: 'lost'; readonly reason: string; readonly running: RunningSandbox | undefined };

/** The state once every process has ended, or is being killed. */
export function withoutProcesses(state: HostState): HostState {
  if (state.kind === 'running') return state.attached ? { kind: 'attached' } : DETACHED;
  if (state.kind === 'lost') return { ...state, running: undefined };
  return state;
}

/** Whether the workspace is attached for the sandbox itself, not only for file sessions. */
export function isAttached(state: HostState): boolean {
  return state.kind === 'attached' || (state.kind === 'running' && state.attached);
}

/** The runtime's part, which may have ended but was not stopped yet. */
export function runningIn(state: HostState): RunningSandbox | undefined {
  return state.kind === 'running' || state.kind === 'lost' ? state.running : undefined;
}
