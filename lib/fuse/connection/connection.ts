import { randomBytes } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { unmountSync } from '../../linux/mount.ts';
import { findMount } from '../../linux/mountinfo.ts';
import type { Log } from '../../log.ts';
import { cloneDevice } from './clone-device.ts';
import { settlesWithin } from './deferred.ts';
import { clearStaleMount, makeMountPoint, mountDevice, primeMount, raiseReadAhead, unmountAll } from './mount.ts';
import { openDevice } from './open-device.ts';
import { startThreads, type Threads } from './threads.ts';

export interface ConnectionOptions {
  /** Absolute. */
  mountPoint: string;
  /** Module that runs the workers, by the role in their workerData. */
  entry: URL;
  /** As of `ThreadOptions`. */
  options: unknown;
  onEvent: (event: unknown) => void;
  log: Log;
}

const READY_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 5_000;

/** The device, the mount and the threads that serve it, as one thing that comes up whole or not at all. */
export class Connection {
  readonly threads: Threads;
  readonly #options: ConnectionOptions;
  readonly #device: FileHandle;
  readonly #eager: FileHandle | undefined;
  #controlFile: FileHandle | undefined;
  #mountId = '';
  #teardown: Promise<void> | undefined;
  readonly #onExit: () => void;

  static async open(options: ConnectionOptions): Promise<Connection> {
    const { mountPoint } = options;
    await clearStaleMount(mountPoint);
    await makeMountPoint(mountPoint);
    const device = await openDevice();
    const controlName = `.control-${randomBytes(16).toString('hex')}`;
    let eager: FileHandle | undefined;
    try {
      await mountDevice(device.fd, mountPoint);
      // On one CPU, who asks cannot run while the worker looks for what it asks.
      if (availableParallelism() > 1) eager = await cloneDevice(device);
    } catch (thrown) {
      await device.close();
      throw thrown;
    }
    const connection = new Connection(options, device, eager, controlName);
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
    eager: FileHandle | undefined,
    controlName: string,
  ) {
    this.#options = options;
    this.#device = device;
    this.#eager = eager;
    this.threads = startThreads({ ...options, fd: device.fd, eagerFd: eager?.fd, controlName });
    this.#onExit = () => {
      this.threads.stopAtExit();
      unmountSync(options.mountPoint, 'detach');
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
    // Not before the kernel has taken the answer to its INIT, which sets its own limit: whoever was answered came after.
    await raiseReadAhead(mountPoint);
    // Sends no message any more: the child before has looked it up, and opens are not asked for.
    this.#controlFile = await open(join(mountPoint, controlName));
    const ping = threads.control.call('ping');
    if (!(await settlesWithin(ping, READY_TIMEOUT_MS))) throw new Error('the request worker cannot be woken');
    await ping;
  }

  /** Whether the mount is still where it was put. */
  async isMounted(): Promise<boolean> {
    return (await findMount(this.#options.mountPoint))?.device === this.#mountId;
  }

  /** Ends everything within seconds; with `force`, at once and in the middle of whatever it does. Idempotent. */
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
      log.error('a thread of the workspace file system does not end', { mountPoint });
      return;
    }
    process.off('exit', this.#onExit);
    threads.control.release();
    await this.#eager?.close();
    await this.#device.close();
  }
}
