import { type Steps, Waiting } from '../fuse/connection/steps.ts';
import type { CurrentWorkspace } from './current-workspace.ts';
import { requireNotHeld } from './pause.ts';
import type { Workspace } from './workspace.ts';

/** The parts of the file system that holds need. */
interface HoldsOwner {
  readonly current: CurrentWorkspace;
  /** Runs a FORGET that came during a hold. */
  forget(nodeid: number, nlookup: number): void;
  /** Starts syncs of files that waited for the end of a hold. */
  resumeSyncs(): void;
  /** Called when operations that are Postponed with this cause may be run again. */
  released(cause: number): void;
}

/** Holds workspaces during long operations: every request for a held one is Postponed until the steps are done. */
export class Holds {
  readonly #owner: HoldsOwner;
  /** Causes of holds are negative numbers; those of copies are positive. */
  #lastCause = 0;

  constructor(owner: HoldsOwner) {
    this.#owner = owner;
  }

  /** Holds one workspace. Throws Postponed if it is held. */
  hold<T>(workspace: Workspace, steps: Steps<T>): Steps<T> {
    requireNotHeld(workspace);
    return this.holdAll([workspace], steps);
  }

  /** As `hold`, after the workspace was opened. */
  holdOpen<T>(workspace: Workspace, steps: Steps<T>): Steps<T> {
    return this.hold(workspace, whenOpen(workspace, steps));
  }

  /** Holds workspaces of which none is held. */
  holdAll<T>(workspaces: readonly Workspace[], steps: Steps<T>): Steps<T> {
    for (const workspace of workspaces) workspace.generation++;
    return this.holdSame(workspaces, steps);
  }

  /** As `holdAll`, for steps that change no names and no rules: cached results stay valid. */
  holdSame<T>(workspaces: readonly Workspace[], steps: Steps<T>): Steps<T> {
    const cause = this.newCause();
    for (const workspace of workspaces) workspace.heldBy = cause;
    return this.#holding(workspaces, cause, steps);
  }

  /** Returns a cause for what requests are to wait for until `release`. */
  newCause(): number {
    return --this.#lastCause;
  }

  release(cause: number): void {
    if (cause !== 0) this.#owner.released(cause);
  }

  /**
   * Pauses a workspace, instead of an earlier pause, until `resume`: for several operations of the main thread. These
   * must not wait for notifications, which may wait for a lock that a paused request has.
   */
  pause(workspace: Workspace): void {
    this.resume(workspace);
    workspace.pausedBy = this.newCause();
  }

  resume(workspace: Workspace): void {
    const { pausedBy } = workspace;
    workspace.pausedBy = 0;
    this.release(pausedBy);
  }

  /** The steps of one workspace among several. */
  *forOne<T>(workspace: Workspace, steps: Steps<T>): Steps<T> {
    for (;;) {
      this.#owner.current.set(workspace.spec.id);
      const { done, value } = steps.next();
      if (done) return value;
      yield value instanceof Waiting ? value : undefined;
    }
  }

  *#holding<T>(workspaces: readonly Workspace[], cause: number, steps: Steps<T>): Steps<T> {
    const { current } = this.#owner;
    try {
      for (;;) {
        // Steps for several workspaces record the current one themselves.
        if (workspaces.length === 1) current.set(workspaces[0]!.spec.id);
        const { done, value } = steps.next();
        if (done) return value;
        yield value;
      }
    } finally {
      for (const workspace of workspaces) {
        workspace.heldBy = 0;
        for (const [nodeid, nlookup] of workspace.pendingForgets.splice(0)) this.#owner.forget(nodeid, nlookup);
      }
      this.#owner.released(cause);
      this.#owner.resumeSyncs();
    }
  }
}

export function* whenOpen<T>(workspace: Workspace, steps: Steps<T>): Steps<T> {
  yield* workspace.opening();
  return yield* steps;
}
