import { randomBytes } from 'node:crypto';
import type { ResourceLimits, Runtime as RuntimeName } from '../../contract/messages.ts';
import type { Log } from '../../log.ts';
import type { ReadySandbox, Runtime } from '../../runtime/runtime.ts';
import type { UidSlots } from '../host/uid-slots.ts';
import { Keep } from './keep.ts';

/** A ready sandbox that belongs to one creation. The creation uses its uid from then on, whatever becomes of the sandbox. */
export interface Taken {
  readonly uid: number;
  /** Of its workspace. */
  readonly place: string;
  /** Host path of the place. */
  readonly workspace: string;
  readonly sandbox: ReadySandbox;
  /** Ends it and removes its place, unless a workspace has taken that. Never rejects. */
  discard(): Promise<void>;
}

export interface ReadyParts {
  mount: {
    reserve(place: string, uid: number): Promise<string>;
    release(place: string): Promise<unknown>;
  };
  /** The runtime of the sandboxes. */
  runtime(): Promise<Pick<Runtime, 'prepare'>>;
  uids: Pick<UidSlots, 'take' | 'release' | 'free'>;
  /** Maximum number of them. */
  most: number;
  log: Log;
  /** Monotonic time in milliseconds. */
  now(): number;
}

/** Milliseconds without a call after which a sandbox is made: it costs as much as any creation. */
const IDLE_MS = 10;
/** Milliseconds that calls without such a pause delay the next one. */
const PATIENCE_MS = 250;
/** Milliseconds between looks for surplus and dead ones. */
const LOOK_MS = 5000;
/** Milliseconds after a failure, doubled with each further one. */
const RETRY_MS = 1000;
const LONGEST_RETRY_MS = 60_000;

/**
 * Sandboxes made ahead, one at a time while no call begins or ends: namespaces, cgroups, uid, agent, and an empty place in the
 * mount. Each is used for one creation at most and never given back. They exist in memory only: what a killed server leaves of
 * them is named and removed like the remains of sandboxes.
 */
export class ReadySandboxes {
  readonly #parts: ReadyParts;
  readonly #keep: Keep;
  #ready: Taken[] = [];
  #resources: ResourceLimits | undefined;
  #making: Promise<void> | undefined;
  readonly #discarding = new Set<Promise<void>>();
  #timer: NodeJS.Timeout | undefined;
  #look: NodeJS.Timeout | undefined;
  #creating = 0;
  #lastCall = 0;
  #wantedSince: number | undefined;
  #failures = 0;
  /** Incremented when the mount fails, and with it every place. */
  #mounts = 0;
  #closed = false;

  constructor(parts: ReadyParts) {
    this.#parts = parts;
    this.#keep = new Keep(parts.most);
  }

  /**
   * One for a new sandbox, if there is one for its kind; the caller owns it, and its uid. `isPlain`: without an image, and without
   * limits that its owner's sandboxes share.
   */
  take(runtime: RuntimeName, isPlain: boolean, resources: ResourceLimits): Taken | undefined {
    if (runtime !== 'RUNTIME_BWRAP' || !isPlain || this.#parts.most === 0 || this.#closed) return undefined;
    this.#keep.created(this.#parts.now());
    if (this.#resources !== undefined && kinds(resources) !== kinds(this.#resources)) this.#discardAll();
    this.#resources = resources;
    for (let taken = this.#ready.shift(); taken; taken = this.#ready.shift()) {
      if (taken.sandbox.isFit()) return taken;
      this.#parts.log.warn('a ready sandbox had ended, or changed');
      this.#discard(taken);
    }
    return undefined;
  }

  /** Reports a creation, from now until it has settled. Passes it on. */
  async creating<T>(creation: Promise<T>): Promise<T> {
    this.#creating++;
    let failed = true;
    try {
      const created = await creation;
      failed = false;
      return created;
    } finally {
      this.#creating--;
      this.call();
      // Users of a small range, descriptors and memory are for sandboxes that exist.
      if (failed || this.#parts.uids.free < 2 * this.#parts.most) this.#discardAll();
      else this.#schedule();
    }
  }

  /** Reports that a call begins or ends. */
  call(): void {
    this.#lastCall = this.#parts.now();
  }

  /** Call when the mount has failed. */
  lost(): void {
    this.#mounts++;
    this.#discardAll();
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    clearInterval(this.#look);
    await this.#making;
    this.#discardAll();
    await Promise.all(this.#discarding);
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    const { most, now, uids } = this.#parts;
    if (this.#closed || this.#making || this.#resources === undefined || uids.free < 4 * most) return;
    if (this.#ready.length >= this.#keep.number(now())) {
      this.#wantedSince = undefined;
      return;
    }
    this.#wantedSince ??= now();
    const isFailing = this.#failures > 0;
    const wait = isFailing ? Math.min(LONGEST_RETRY_MS, RETRY_MS * 2 ** (this.#failures - 1)) : IDLE_MS;
    this.#timer = setTimeout(() => this.#makeWhenIdle(), wait).unref();
  }

  #makeWhenIdle(): void {
    const now = this.#parts.now();
    const isIdle = this.#creating === 0 && now - this.#lastCall >= IDLE_MS;
    if (!isIdle && now - (this.#wantedSince ?? now) < PATIENCE_MS) {
      this.#schedule();
      return;
    }
    this.#wantedSince = undefined;
    this.#making = this.#make().finally(() => {
      this.#making = undefined;
      this.#schedule();
    });
  }

  /** Never rejects. */
  async #make(): Promise<void> {
    const { mount, uids, log } = this.#parts;
    const mounts = this.#mounts;
    const place = randomBytes(16).toString('hex');
    const uid = uids.take();
    if (uid === undefined) return;
    let path: string | undefined;
    try {
      path = await mount.reserve(place, uid);
      const resources = this.#resources!;
      const sandbox = await this.#prepare(uid, path, resources);
      const discard = async () => {
        await sandbox.discard();
        await mount.release(place).catch(() => undefined);
      };
      const made = { uid, place, workspace: path, sandbox, discard };
      const isLate = this.#closed || mounts !== this.#mounts || kinds(resources) !== kinds(this.#resources!);
      if (isLate) this.#discard(made);
      else this.#ready.push(made);
      this.#failures = 0;
      this.#look ??= setInterval(() => this.#removeSurplus(), LOOK_MS).unref();
    } catch (err) {
      this.#failures++;
      log.warn('no sandbox could be made ready', { err });
      if (path !== undefined) await mount.release(place).catch(() => undefined);
      uids.release(uid);
    }
  }

  async #prepare(uid: number, workspace: string, resources: ResourceLimits): Promise<ReadySandbox> {
    const runtime = await this.#parts.runtime();
    if (runtime.prepare === undefined) throw new Error('the runtime makes none');
    return runtime.prepare({ uid, workspace, resources });
  }

  #removeSurplus(): void {
    const unfit = this.#ready.filter(({ sandbox }) => !sandbox.isFit());
    this.#ready = this.#ready.filter((each) => !unfit.includes(each));
    const surplus = this.#ready.length - this.#keep.number(this.#parts.now());
    if (surplus > 0) unfit.push(...this.#ready.splice(0, surplus));
    for (const each of unfit) this.#discard(each);
    if (this.#ready.length === 0) {
      clearInterval(this.#look);
      this.#look = undefined;
    }
    this.#schedule();
  }

  #discardAll(): void {
    for (const each of this.#ready.splice(0)) this.#discard(each);
  }

  /** The user is free again when nothing of it is left. */
  #discard(ready: Taken): void {
    const discarding = ready.discard().then(() => this.#parts.uids.release(ready.uid));
    this.#discarding.add(discarding);
    void discarding.then(() => this.#discarding.delete(discarding));
  }
}

/** The limits that are set: the cgroups of a sandbox are for certain ones, of any value. */
const kinds = (resources: ResourceLimits) =>
  Object.entries(resources)
    .filter(([, value]) => value !== 0)
    .map(([name]) => name)
    .sort()
    .join();
