import { setTimeout as delay } from 'node:timers/promises';
import { ServiceError } from '../../errors.ts';
import { settlesWithin } from '../../fuse/connection/deferred.ts';
import type { SharedMappings } from '../../linux/shared-mappings.ts';
import type { Log } from '../../log.ts';
import { type Call, callsThrough, TRAITS, type WorkspaceCalls } from '../../workspaces/calls.ts';
import type { Workspaces } from '../../workspaces/mount-workspaces.ts';
import type { FileSystemExit, WorkspaceSpec } from '../../workspaces/workspaces.ts';
import { FailureHistory } from './failure-history.ts';

interface Options {
  /** Mounts the file system, after removing the mount of a failed server or worker. */
  mount: (observer: Pick<WorkspaceObserver, 'unreadable' | 'mapped' | 'watched'>) => Promise<Workspaces>;
  log: Log;
  /** Monotonic time in milliseconds. */
  now?: () => number;
}

/** Receives failures, and knows the programs. The calls for failures are synchronous and must not throw. */
export interface WorkspaceObserver {
  /**
   * The file system has failed: every workspace is detached. Called before the system calls of programs fail. `back`
   * settles when the file system is mounted again, or when mounting has failed.
   */
  lost(reason: string, back: Promise<unknown>): void;
  /** The workspace cannot be read at all. */
  unreadable(id: string, reason: string): void;
  /**
   * The files that programs have mapped with MAP_SHARED, of those on a device ("major:minor"); undefined: it cannot be
   * known. Never rejects.
   */
  mapped(id: string, device: string): Promise<SharedMappings | undefined>;
  /** The inode numbers on that device that programs watch by inotify(7), as far as they are known. Never rejects. */
  watched(id: string, device: string): Promise<ReadonlySet<number>>;
}

/** Maximum number of mounts that may fail during one call. */
const ATTACH_ATTEMPTS = 3;
/** Maximum attempts to remount after a failure, a second and more apart; later it is retried on demand. */
const MOUNT_ATTEMPTS = 4;
const FIRST_RETRY_MS = 1000;
/** Milliseconds that a mount waits for the threads of the failed one: two must never write to one delta. */
const THREADS_MS = 30_000;

/**
 * The workspace file system for the life of the server: mounted on demand, and again after a failure, with a delay that
 * grows with the number of failures. A workspace that caused repeated failures is not attached for a while, so that the
 * others are served. A server with the mock runtime only never mounts. Offers the operations of `WorkspaceCalls`, each on
 * the present mount. The caller closes it.
 */
export type WorkspaceMount = MountKeeper & WorkspaceCalls;

/** Mounts nothing yet. The caller subscribes before the first `attach`, and closes it. */
export function createWorkspaceMount(options: Options): WorkspaceMount {
  const keeper = new MountKeeper(options);
  return Object.assign(
    keeper,
    callsThrough((operation, args) => keeper.call(operation, args)),
  );
}

class MountKeeper {
  readonly #options: Options;
  #observer: WorkspaceObserver | undefined;
  readonly #failures: FailureHistory;
  /** Ids of the workspaces attached to the present mount. */
  readonly #attached = new Set<string>();
  /** Aborts waits when the server shuts down. */
  readonly #end = new AbortController();
  #mounted: Promise<Workspaces> | undefined;
  /** The present mount, once it serves. */
  #live: Workspaces | undefined;
  /** Cleanup of a failed mount; a new one waits for it, because both have the same path. */
  #clearing: Promise<unknown> = Promise.resolve();
  /** Settles when the threads of the failed mount have exited. */
  #threads: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(options: Options) {
    this.#options = options;
    this.#failures = new FailureHistory(options.now ?? (() => performance.now()));
  }

  /**
   * Call once, before the first `attach`. A mount and its failure before that need no observer, since nothing is
   * attached.
   */
  subscribe(observer: WorkspaceObserver): void {
    this.#observer = observer;
  }

  /** Resolves when the file system is mounted; a failure is retried at the next call. */
  async ready(): Promise<Workspaces> {
    if (this.#closed) throw new ServiceError('UNAVAILABLE', 'the server is shutting down');
    if (this.#mounted) return this.#mounted;
    const mounted = this.#mount();
    this.#mounted = mounted;
    try {
      this.#watch(await mounted, mounted);
    } catch (error) {
      this.#forget(mounted);
      throw error;
    }
    return mounted;
  }

  /** Whether the workspace is attached to the present mount; false as soon as the mount has failed. */
  holds(id: string): boolean {
    return this.#attached.has(id);
  }

  /**
   * Attaches to the mount that is present when it resolves. UNAVAILABLE for a workspace that is not attached because of
   * earlier failures.
   */
  async attach(spec: WorkspaceSpec): Promise<string> {
    for (let attempt = 1; ; attempt++) {
      const refusal = this.#failures.refusal(spec.id);
      if (refusal !== undefined) throw new ServiceError('UNAVAILABLE', refusal);
      const workspaces = await this.ready();
      try {
        const path = await workspaces.attach(spec);
        if (this.#live === workspaces) {
          this.#attached.add(spec.id);
          return path;
        }
      } catch (error) {
        if (this.#live === workspaces || this.#closed || attempt === ATTACH_ATTEMPTS) throw error;
      }
    }
  }

  /**
   * Makes a place in the present mount; a workspace can be attached there as long as this mount serves. UNAVAILABLE without
   * a mount: nothing waits for one, the end of the server least of all.
   */
  async reserve(place: string, uid: number): Promise<string> {
    if (this.#live === undefined) throw new ServiceError('UNAVAILABLE', 'the workspace file system is not mounted');
    return this.#live.reserve(place, uid);
  }

  async detach(id: string): Promise<void> {
    // Workspaces of a failed mount are detached already.
    if (!this.#attached.delete(id)) return;
    await (await this.#mounted)?.detach(id);
  }

  /** Detects an unmount at once. */
  async check(): Promise<void> {
    const workspaces = await this.#mounted?.catch(() => undefined);
    await workspaces?.check();
  }

  /** Calls an operation on the present mount; FAILED_PRECONDITION for a workspace that caused repeated failures. */
  readonly call: Call = async (operation, args) => {
    const { unattached, unmounted } = TRAITS[operation];
    if (unattached) this.#requireNoRefusal(unattached(...args));
    const task = (workspaces: Workspaces) => workspaces.call(operation, args);
    return unmounted ? this.#ifMounted(task, unmounted.answer) : task(await this.ready());
  };

  /** See `Workspaces.flush`. */
  async flush(id: string): Promise<void> {
    await (await this.ready()).flush(id);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#end.abort();
    await this.#clearing;
    await (await this.#mounted?.catch(() => undefined))?.close();
  }

  /** For what needs no attachment. Not UNAVAILABLE: this lasts, and others must not wait for it. */
  #requireNoRefusal(id: string): void {
    const refusal = this.#failures.refusal(id);
    if (refusal !== undefined) throw new ServiceError('FAILED_PRECONDITION', refusal);
  }

  /** `otherwise`: the result without a mount, or if it fails meanwhile. */
  async #ifMounted<T>(task: (workspaces: Workspaces) => Promise<T>, otherwise: T): Promise<T> {
    const mounted = this.#mounted;
    const workspaces = await mounted?.catch(() => undefined);
    if (!workspaces) return otherwise;
    try {
      return await task(workspaces);
    } catch (error) {
      if (this.#mounted === mounted) throw error;
      return otherwise;
    }
  }

  #watch(workspaces: Workspaces, mounted: Promise<Workspaces>): void {
    this.#live = workspaces;
    void workspaces.exited.then((exit) => {
      this.#live = undefined;
      const attached = this.#attached.size;
      this.#attached.clear();
      const wait = this.#failures.add(exit);
      this.#clearing = workspaces.close().then(
        () => this.#pause(wait),
        () => this.#pause(wait),
      );
      this.#threads = workspaces.threadsExited;
      this.#forget(mounted);
      this.#logFailure(exit, attached, wait);
      const back = attached > 0 ? this.#mountAnew() : Promise.resolve();
      this.#observer?.lost(exit.reason, back);
    });
  }

  #logFailure({ reason, workspace }: FileSystemExit, workspaces: number, wait: number): void {
    const { log } = this.#options;
    log.error('workspace file system failed, remounting', {
      reason,
      workspaces,
      ...(workspace !== undefined && { serving: workspace }),
      ...(wait > 0 && { wait_ms: wait }),
    });
    const refusal = workspace === undefined ? undefined : this.#failures.refusal(workspace);
    if (refusal !== undefined)
      log.error('workspace not attached after repeated failures', { sandbox_id: workspace, refusal });
  }

  async #mount(): Promise<Workspaces> {
    await this.#clearing;
    if (this.#closed) throw new ServiceError('UNAVAILABLE', 'the server is shutting down');
    if (!(await settlesWithin(this.#threads, THREADS_MS))) {
      throw new ServiceError('UNAVAILABLE', 'the workspace file system died, and its threads have not ended yet');
    }
    return this.#options.mount({
      unreadable: (id, reason) => this.#observer?.unreadable(id, reason),
      mapped: async (id, device) => this.#observer?.mapped(id, device),
      watched: async (id, device) => (await this.#observer?.watched(id, device)) ?? new Set(),
    });
  }

  /** Never rejects: later calls report a failure. */
  async #mountAnew(): Promise<void> {
    for (let attempt = 1, wait = FIRST_RETRY_MS; !this.#closed; attempt++, wait *= 2) {
      try {
        await this.ready();
        return;
      } catch (err) {
        this.#options.log.error('workspace file system could not be remounted', { attempt, err });
        if (attempt === MOUNT_ATTEMPTS) return;
      }
      await this.#pause(wait);
    }
  }

  /** Ends early when the server shuts down. */
  async #pause(milliseconds: number): Promise<void> {
    if (milliseconds > 0) await delay(milliseconds, undefined, { signal: this.#end.signal }).catch(() => undefined);
  }

  #forget(mounted: Promise<Workspaces>): void {
    if (this.#mounted === mounted) this.#mounted = undefined;
  }
}
