import { resolve } from 'node:path';
import { toText } from '../byte-string.ts';
import { ServiceError } from '../errors.ts';
import { Connection } from '../fuse/connection/connection.ts';
import { Deferred, settlesWithin } from '../fuse/connection/deferred.ts';
import { syncMount } from '../fuse/connection/mount.ts';
import { PageFlusher } from '../fuse/connection/page-flusher.ts';
import { watch } from '../fuse/connection/watchdog.ts';
import type { SharedMappings } from '../linux/shared-mappings.ts';
import type { Log } from '../log.ts';
import type { ThreadEntry } from '../threads/thread-entry.ts';
import { type Answer, type Arguments, type Operation, TRAITS } from './calls.ts';
import { CurrentWorkspace } from './current-workspace.ts';
import { BackgroundCopies } from './delta/contents/background-copies.ts';
import { BackgroundFrees } from './delta/contents/background-free.ts';
import type { WorkspaceEvent } from './events.ts';
import { MappedPages } from './mapped-pages.ts';
import { Watchers } from './watching/watchers.ts';
import type { DamageReport, FileSystemExit } from './workspaces.ts';

const WATCHDOG_MS = 120_000;
const SYNC_TIMEOUT_MS = 5_000;

/** Options of `mountWorkspaces`. */
export interface MountOptions {
  /** Mount point; created with its missing parents if absent. Must contain nothing else. */
  mountPoint: string;
  /** Calls `runFuseWorker` for the role 'fuse', and `serveNotifications` for 'fuse-notifier'. */
  entry: ThreadEntry;
  /** Of the request worker: that of the programs in sandboxes. Absent: that of the calling thread. */
  niceness?: number | undefined;
  log: Log;
  /** Called for a workspace that is unreadable as a whole. The damage is logged already. */
  unreadable?: (id: string, reason: string) => void;
  /**
   * The files that programs of a workspace have mapped with MAP_SHARED, of those on a device ("major:minor"); undefined: it
   * cannot be known. Absent: it is never known.
   */
  mapped?: (id: string, device: string) => Promise<SharedMappings | undefined>;
  /** The inode numbers that programs of a workspace watch on a device. Absent: none are known. */
  watched?: (id: string, device: string) => Promise<ReadonlySet<number>>;
  /**
   * How long the request worker may not answer before it is considered hung, in ms: longer than its longest file copy.
   * Default 120000.
   */
  watchdogMs?: number;
}

/** The connection to the mounted file system of all workspaces, from the mount to its end. */
export class MountConnection {
  readonly mountPoint: string;
  readonly #log: Log;
  readonly #connection: Connection;
  readonly #watchdog: ReturnType<typeof watch>;
  readonly #exited = new Deferred<FileSystemExit>();
  readonly #flusher = new PageFlusher();
  readonly #mapped: MappedPages;
  readonly #watchers: Watchers;
  readonly #copies: BackgroundCopies;
  #closing: Promise<void> | undefined;
  #dead = false;

  private constructor(
    mountPoint: string,
    connection: Connection,
    { current, watchers, copies }: { current: CurrentWorkspace; watchers: Watchers; copies: BackgroundCopies },
    options: MountOptions,
  ) {
    this.#watchers = watchers;
    this.#copies = copies;
    this.mountPoint = mountPoint;
    this.#log = options.log;
    this.#connection = connection;
    this.#mapped = new MappedPages({
      mapped: async (id) => options.mapped?.(id, connection.device),
      flusher: this.#flusher,
      flushAll: () => syncMount(mountPoint),
    });
    this.#watchdog = watch(connection, options.watchdogMs ?? WATCHDOG_MS);
    void Promise.race([connection.threads.ended, this.#watchdog.alarm]).then(({ reason, byWorker }) =>
      this.#onEnd({ reason, ...(byWorker && { workspace: current.id }) }),
    );
  }

  /** Rejects, with everything cleaned up, if the mount fails. The caller closes the connection. */
  static async open(options: MountOptions): Promise<MountConnection> {
    const mountPoint = resolve(options.mountPoint);
    const current = new CurrentWorkspace();
    const ended = (id: number, errno: number) => {
      void connection.threads.control.call('copied', id, errno).catch(() => {});
    };
    const frees = new BackgroundFrees(ended);
    const copies = new BackgroundCopies(ended);
    let watchers: Watchers | undefined;
    const onEvent = (posted: unknown) => {
      const event = posted as WorkspaceEvent;
      switch (event.kind) {
        case 'damaged':
          report(event.report, options);
          break;
        case 'refused':
          options.log.warn('the disk is nearly full: the sandbox may not grow', { sandbox_id: event.id });
          break;
        case 'copy':
          copies.start(event.copy);
          break;
        case 'free':
          frees.start(event.free);
          break;
        case 'told':
          watchers?.tell(event.told);
      }
    };
    const { entry, niceness, log } = options;
    const connection = await Connection.open({ mountPoint, entry, options: current.buffer, niceness, onEvent, log });
    watchers = new Watchers({
      mountPoint,
      watched: async (id) => (await options.watched?.(id, connection.device)) ?? new Set(),
      toldNames: async (id, directories) => {
        await connection.threads.control.call('toldNames', id, directories);
      },
    });
    return new MountConnection(mountPoint, connection, { current, watchers, copies }, options);
  }

  /** See `Workspaces.exited`. */
  get exited(): Promise<FileSystemExit> {
    return this.#exited.promise;
  }

  /** See `Workspaces.threadsExited`. */
  get threadsExited(): Promise<unknown> {
    return this.#connection.threads.exited;
  }

  /** Calls an operation of the request worker once. */
  async request<O extends Operation>(operation: O, args: Arguments<O>): Promise<Answer<O>> {
    if (this.#closing) {
      throw new ServiceError('UNAVAILABLE', 'the workspace file system is not available: it is closed');
    }
    const { join } = TRAITS[operation];
    const answer = (await this.#connection.threads.control.call(operation, ...args)) as Answer<O> | Answer<O>[];
    return join === undefined ? (answer as Answer<O>) : join(Array.isArray(answer) ? answer : [answer]);
  }

  /** See `Workspaces.flush`. */
  flush(id: string): Promise<void> {
    return this.#mapped.flush(id);
  }

  /** See `Workspaces.check`. */
  async check(): Promise<void> {
    await this.#watchdog.checkMount();
    // Handlers of `exited` run first.
    await new Promise((done) => setImmediate(done));
  }

  /** Unmounts and ends the worker; deltas are synced. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#watchdog.stop();
    this.#flusher.close();
    this.#watchers.close();
    this.#copies.close();
    if (this.#dead) return this.#connection.close({ force: true });
    const { control } = this.#connection.threads;
    // Dirty pages of memory mappings are written to the deltas first; then the deltas are synced to disk.
    const synced = syncMount(this.mountPoint).then(() => control.call('syncAll'));
    synced.catch((err: unknown) => this.#log.error('the deltas were not synced', { err }));
    const answers = await settlesWithin(synced, SYNC_TIMEOUT_MS);
    const closed = this.#connection.close({ force: !answers });
    control.close('it is closed');
    await closed;
  }

  async #onEnd(exit: FileSystemExit): Promise<void> {
    this.#watchdog.stop();
    this.#connection.threads.control.close(exit.reason);
    if (this.#closing) return;
    this.#dead = true;
    this.#copies.close();
    // The owner of the sandboxes is notified first, so that commands fail with this reason instead of file system
    // errors.
    this.#exited.resolve(exit);
    const { mountPoint } = this;
    await this.#connection
      .close({ force: true })
      .catch((err: unknown) => this.#log.error('a failed mount could not be removed', { err, mountPoint }));
  }
}

function report({ id, message, path }: DamageReport, { log, unreadable }: MountOptions): void {
  const name = path === undefined ? undefined : toText(path);
  log.error('contents on disk are damaged or missing', { sandbox_id: id, path: name, reason: message });
  if (path === undefined) unreadable?.(id, message);
}
