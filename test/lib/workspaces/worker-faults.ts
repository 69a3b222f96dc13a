import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { constants } from 'node:os';
import { getEnvironmentData, setEnvironmentData, workerData } from 'node:worker_threads';
import { ERRNOS, type ErrnoName } from '../runtime/faults/host-calls.ts';

/** The counted calls: those for host files, the request worker's on the device, or the notifier's. */
const TARGETS = ['files', 'device', 'notifier'] as const;
type Target = (typeof TARGETS)[number];

/** Indices of the shared memory. */
const [ARMED, REPEATS, ERRNO, TARGET, COUNT, FIRED] = [0, 1, 2, 3, 4, 5];
const SIZE = 6;
const KEY = 'worker faults';

type AnyCall = (...args: unknown[]) => unknown;

/** Makes host calls fail in worker threads that are started after `inMemory`, by way of `failing-entry.ts`. */
export class WorkerFaults {
  readonly #state: Int32Array;

  private constructor(memory: SharedArrayBuffer) {
    this.#state = new Int32Array(memory);
  }

  /** Side in the test's thread. */
  static inMemory(): WorkerFaults {
    const memory = new SharedArrayBuffer(SIZE * 4);
    setEnvironmentData(KEY, memory);
    return new WorkerFaults(memory);
  }

  /** Replaces the calls of this worker thread. */
  static install(): void {
    new WorkerFaults(getEnvironmentData(KEY) as unknown as SharedArrayBuffer).#install();
  }

  /** Makes the Nth call from now on fail, and the next `repeats - 1` ones. */
  arm(target: Target, nth: number, errno: ErrnoName, repeats = 1): void {
    Atomics.store(this.#state, ARMED, 0);
    Atomics.store(this.#state, TARGET, TARGETS.indexOf(target));
    Atomics.store(this.#state, ERRNO, ERRNOS.indexOf(errno));
    Atomics.store(this.#state, FIRED, 0);
    Atomics.store(this.#state, COUNT, 0);
    Atomics.store(this.#state, REPEATS, repeats);
    Atomics.store(this.#state, ARMED, nth);
  }

  /** No further call fails. Returns how many have failed since `arm`. */
  disarm(): number {
    Atomics.store(this.#state, ARMED, 0);
    return this.fired;
  }

  /** Calls since `arm`. */
  get count(): number {
    return Atomics.load(this.#state, COUNT);
  }

  get fired(): number {
    return Atomics.load(this.#state, FIRED);
  }

  #install(): void {
    const { role, fd } = workerData as { role: string; fd: number };
    const { fstatSync } = fs;
    const device = fstatSync(fd).rdev;
    // A sync thread also replies by the non-blocking descriptor, whose number it is told with each sync.
    const isDevice = (of: unknown) => fstatSync(of as number).rdev === device;
    const calls = fs as unknown as Record<string, AnyCall>;
    for (const [name, call] of Object.entries(calls)) {
      if (!name.endsWith('Sync') || typeof call !== 'function') continue;
      calls[name] = (...args) => {
        const onDevice = (name === 'readSync' || name === 'writeSync') && isDevice(args[0]);
        // A failed read of the device is a failed request of the kernel's own; a poll without a request is not a call.
        // A lost reply of a sync thread would never end the program's wait; the kernel has no errno that loses one.
        const counted = onDevice ? name === 'writeSync' && role !== 'fuse-sync' : true;
        if (counted) this.#failIfDue(onDevice ? (role === 'fuse' ? 'device' : 'notifier') : 'files', name, call, args);
        return call(...args);
      };
    }
    syncBuiltinESMExports();
  }

  #failIfDue(target: Target, name: string, call: AnyCall, args: unknown[]): void {
    const state = this.#state;
    const armed = Atomics.load(state, ARMED);
    if (armed === 0 || TARGETS[Atomics.load(state, TARGET)] !== target) return;
    const count = Atomics.add(state, COUNT, 1) + 1;
    if (count < armed || count >= armed + Atomics.load(state, REPEATS)) return;
    Atomics.add(state, FIRED, 1);
    // A close that reports an error has closed the descriptor anyway (close(2)).
    if (name === 'closeSync') call(...args);
    const code = ERRNOS[Atomics.load(state, ERRNO)] as ErrnoName;
    throw Object.assign(new Error(`${code}: injected`), { code, errno: -constants.errno[code], syscall: name });
  }
}
