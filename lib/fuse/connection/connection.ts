import { randomBytes } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { killUnlessEnded } from '../../linux/kill-unless-ended.ts';
import { unmountSync } from '../../linux/mount.ts';
import { findMount } from '../../linux/mountinfo.ts';
import type { Log } from '../../log.ts';
import type { ThreadEntry } from '../../threads/thread-entry.ts';
import { cloneDevice } from './clone-device.ts';
import { settlesWithin } from './deferred.ts';
import { clearStaleMount, makeMountPoint, mountDevice, primeMount, raiseReadAhead, unmountAll } from './mount.ts';
import { openDevice } from './open-device.ts';
import { Threads } from './threads.ts';

/** Options of `Connection.open`. */
export interface ConnectionOptions {
  /** Absolute path of the mount point; created if absent. */
  mountPoint: string;
  /** What the threads run, by the roles 'fuse' and 'fuse-notifier'. */
  entry: ThreadEntry;
  /** `ThreadOptions.options`. */
  options: unknown;
  /** `ThreadOptions.niceness`. */
  niceness?: number | undefined;
  /** `ThreadOptions.onEvent`. */
  onEvent: (event: unknown) => void;
  log: Log;
}

const READY_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 5_000;
/** How long an exit may wait for threads that did not end, such as for one that syncs to a disk that does not answer. */
const EXIT_SECONDS = 1.5;

/** A FUSE connection: the device, the mount, and the threads that serve it. */
export class Connection {
  readonly threads: Threads;
  readonly #options: ConnectionOptions;
  readonly #device: FileHandle;
  readonly #nonBlocking: FileHandle | undefined;
  #controlFile: FileHandle | undefined;
  #mountId = '';
  #teardown: Promise<void> | undefined;
  readonly #onExit: () => void;

  /**
   * Mounts and starts the threads; resolves when the mount serves requests. Rejects, with everything cleaned up, if a
   * step fails or takes longer than 30 s. A mount that a killed server left on the mount point is removed first. The
   * caller closes it.
   */
  static async open(options: ConnectionOptions): Promise<Connection> {
    const { mountPoint } = options;
    await clearStaleMount(mountPoint);
    await makeMountPoint(mountPoint);
    const device = await openDevice();
    const controlName = `.control-${randomBytes(16).toString('hex')}`;
    let nonBlocking: FileHandle | undefined;
    try {
      await mountDevice(device.fd, mountPoint);
      nonBlocking = await cloneDevice(device);
    } catch (thrown) {
      await device.close();
      throw thrown;
    }
    const connection = new Connection(options, device, nonBlocking, controlName);
    try {
      await connection.#bringUp(controlName);
    } catch (thrown) {
      await connection.close();
      throw thrown;
    }
    return connection;
  }

  private constructor(
    options: ConnectionOptions,
    device: FileHandle,
    nonBlocking: FileHandle | undefined,
    controlName: string,
  ) {
    this.#options = options;
    this.#device = device;
    this.#nonBlocking = nonBlocking;
    this.threads = new Threads({ ...options, fd: device.fd, nonBlockingFd: nonBlocking?.fd, controlName });
    this.#onExit = () => {
      this.threads.stopAtExit();
      unmountSync(options.mountPoint, 'detach');
      killUnlessEnded(EXIT_SECONDS);
    };
    process.on('exit', this.#onExit);
  }

  async #bringUp(controlName: string): Promise<void> {
    const { threads } = this;
    const { mountPoint } = this.#options;
    if (!(await settlesWithin(threads.ready, READY_TIMEOUT_MS))) throw new Error('the kernel sent no INIT');
    await threads.ready;
    this.#mountId = (await findMount(mountPoint))?.device ?? '';
    if (!(await settlesWithin(primeMount(mountPoint, controlName), READY_TIMEOUT_MS)))
      throw new Error('the mount does not answer');
    // After INIT, because the kernel sets its own limit when it processes the reply; the lookup of `primeMount` came
    // later.
    await raiseReadAhead(mountPoint);
    // No request is sent for this open: `primeMount` has looked the file up, and OPEN has been answered with ENOSYS.
    this.#controlFile = await open(join(mountPoint, controlName));
    const ping = threads.control.call('ping');
    if (!(await settlesWithin(ping, READY_TIMEOUT_MS))) throw new Error('the request worker cannot be woken');
    await ping;
  }

  /** "major:minor" of st_dev for the files of the mount. */
  get device(): string {
    return this.#mountId;
  }

  /** Whether this connection's mount is still the topmost one on the mount point. */
  async isMounted(): Promise<boolean> {
    return (await findMount(this.#options.mountPoint))?.device === this.#mountId;
  }

  /**
   * Unmounts, stops both threads and closes the device, within seconds; with `force`, without letting requests in
   * progress finish. Idempotent. If a thread does not end, this is logged, and the device stays open; the exit of the
   * process kills it then, at the latest.
   */
  close({ force = false } = {}): Promise<void> {
    this.#teardown ??= this.#close(force);
    return this.#teardown;
  }

  async #close(force: boolean): Promise<void> {
    const { mountPoint, log } = this.#options;
    const { threads } = this;
    await this.#controlFile?.close();
    const stopped = !force && (await settlesWithin(threads.stop(), STOP_TIMEOUT_MS));
    await unmountAll(mountPoint);
    if (!stopped && !(await settlesWithin(threads.terminate(), STOP_TIMEOUT_MS))) {
      log.error('a file system thread did not exit', { mountPoint });
      return;
    }
    process.off('exit', this.#onExit);
    threads.control.release();
    await this.#nonBlocking?.close();
    await this.#device.close();
  }
}
