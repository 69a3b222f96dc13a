import { setTimeout as delay } from 'node:timers/promises';
import type { ByteString } from '../../byte-string.ts';
import type { PermissionRule } from '../../contract/messages.ts';
import { ServiceError } from '../../errors.ts';
import type { Actor } from '../../field-values.ts';
import { settlesWithin } from '../../fuse/connection/deferred.ts';
import type { Log } from '../../log.ts';
import type { FileOperation, WorkspaceFiles } from '../../workspaces/workspace-files.ts';
import type { Death, WorkspaceSpec, Workspaces } from '../../workspaces/workspaces.ts';
import { DeathRecord } from './death-record.ts';

interface Options {
  /**
   * Mounts the file system, after removing the mount of a failed server or worker. `unreadable` is called for a
   * workspace that cannot be read at all.
   */
  mount: (unreadable: WorkspaceObserver['unreadable']) => Promise<Workspaces>;
  log: Log;
  /** Monotonic time in milliseconds. */
  now?: () => number;
}

/** Receives failures. The calls are synchronous and must not throw. */
export interface WorkspaceObserver {
  /**
   * The file system has failed: every workspace is detached. Called before the system calls of programs fail. `back`
   * settles when the file system is mounted again, or when mounting has failed.
   */
  lost(reason: string, back: Promise<unknown>): void;
  /** The workspace cannot be read at all. */
  unreadable(id: string, reason: string): void;
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
 * others are served. A server with the mock runtime only never mounts.
 */
export class WorkspaceMount implements Omit<Workspaces, 'usage' | 'died' | 'ended'> {
  readonly #options: Options;
  #observer: WorkspaceObserver | undefined;
  readonly #deaths: DeathRecord;
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
    this.#deaths = new DeathRecord(options.now ?? (() => performance.now()));
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
      const refusal = this.#deaths.refusal(spec.id);
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

  async setRules(id: string, rules: readonly PermissionRule[]): Promise<void> {
    await (await this.ready()).setRules(id, rules);
  }

  async changes(...args: Parameters<Workspaces['changes']>): ReturnType<Workspaces['changes']> {
    return (await this.ready()).changes(...args);
  }

  async contents(...args: Parameters<Workspaces['contents']>): ReturnType<Workspaces['contents']> {
    return (await this.ready()).contents(...args);
  }

  async revert(id: string, paths: readonly ByteString[]): Promise<number> {
    return (await this.ready()).revert(id, paths);
  }

  async shownFrom(id: string, path: ByteString): Promise<ByteString | undefined> {
    return (await this.ready()).shownFrom(id, path);
  }

  async renamed(id: string): ReturnType<Workspaces['renamed']> {
    return (await this.ready()).renamed(id);
  }

  async keepRemoved(...args: Parameters<Workspaces['keepRemoved']>): Promise<boolean> {
    this.#requireNoRefusal(args[0].id);
    return (await this.ready()).keepRemoved(...args);
  }

  async settle(...args: Parameters<Workspaces['settle']>): Promise<void> {
    this.#requireNoRefusal(args[0].id);
    await (await this.ready()).settle(...args);
  }

  async freeze(id: string, limited?: boolean): ReturnType<Workspaces['freeze']> {
    return (await this.ready()).freeze(id, limited);
  }

  async requireForkRoom(id: string, checkpoint: string): Promise<void> {
    await (await this.ready()).requireForkRoom(id, checkpoint);
  }

  /** Without a mount, the next attach passes the value. */
  async setCheckpoints(id: string, layers: readonly string[]): Promise<void> {
    await this.#tell((workspaces) => workspaces.setCheckpoints(id, layers));
  }

  async rollback(id: string, layer: string): Promise<void> {
    await (await this.ready()).rollback(id, layer);
  }

  async absorb(id: string, layers: readonly string[]): ReturnType<Workspaces['absorb']> {
    return (await this.ready()).absorb(id, layers);
  }

  /** Without a mount, no layer is held open. */
  async layersRemoved(): Promise<void> {
    await this.#tell((workspaces) => workspaces.layersRemoved());
  }

  async flush(): Promise<void> {
    await (await this.ready()).flush();
  }

  async files<O extends FileOperation>(
    id: string,
    actor: Actor,
    operation: O,
    ...args: Parameters<WorkspaceFiles[O]>
  ): Promise<ReturnType<WorkspaceFiles[O]>> {
    return (await this.ready()).files(id, actor, operation, ...args);
  }

  async baseChanging(codebaseId: string, paths: readonly ByteString[]): Promise<void> {
    await this.#tell((workspaces) => workspaces.baseChanging(codebaseId, paths));
  }

  async baseChanged(codebaseId: string, paths: readonly ByteString[]): Promise<void> {
    await this.#tell((workspaces) => workspaces.baseChanged(codebaseId, paths));
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#end.abort();
    await this.#clearing;
    await (await this.#mounted?.catch(() => undefined))?.close();
  }

  /** For what needs no attachment. Not UNAVAILABLE: this lasts, and others must not wait for it. */
  #requireNoRefusal(id: string): void {
    const refusal = this.#deaths.refusal(id);
    if (refusal !== undefined) throw new ServiceError('FAILED_PRECONDITION', refusal);
  }

  /** Without a mount, no base is visible. */
  async #tell(call: (workspaces: Workspaces) => Promise<void>): Promise<void> {
    const mounted = this.#mounted;
    const workspaces = await mounted?.catch(() => undefined);
    if (!workspaces) return;
    try {
      await call(workspaces);
    } catch (error) {
      if (this.#mounted === mounted) throw error;
    }
  }

  #watch(workspaces: Workspaces, mounted: Promise<Workspaces>): void {
    this.#live = workspaces;
    void workspaces.died.then((death) => {
      this.#live = undefined;
      const attached = this.#attached.size;
      this.#attached.clear();
      const wait = this.#deaths.add(death);
      this.#clearing = workspaces.close().then(
        () => this.#pause(wait),
        () => this.#pause(wait),
      );
      this.#threads = workspaces.ended;
      this.#forget(mounted);
      this.#tellOf(death, attached, wait);
      const back = attached > 0 ? this.#mountAnew() : Promise.resolve();
      this.#observer?.lost(death.reason, back);
    });
  }

  #tellOf({ reason, workspace }: Death, workspaces: number, wait: number): void {
    const { log } = this.#options;
    log.error('workspace file system failed, remounting', {
      reason,
      workspaces,
      ...(workspace !== undefined && { serving: workspace }),
      ...(wait > 0 && { wait_ms: wait }),
    });
    const refusal = workspace === undefined ? undefined : this.#deaths.refusal(workspace);
    if (refusal !== undefined)
      log.error('workspace not attached after repeated failures', { sandbox_id: workspace, refusal });
  }

  async #mount(): Promise<Workspaces> {
    await this.#clearing;
    if (this.#closed) throw new ServiceError('UNAVAILABLE', 'the server is shutting down');
    if (!(await settlesWithin(this.#threads, THREADS_MS))) {
      throw new ServiceError('UNAVAILABLE', 'the workspace file system died, and its threads have not ended yet');
    }
    return this.#options.mount((id, reason) => this.#observer?.unreadable(id, reason));
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
