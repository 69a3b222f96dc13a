import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { ResourceLimits } from '../../contract/messages.ts';
import type { Log } from '../../log.ts';
import type { ReadySandbox, SandboxSpec } from '../../runtime/runtime.ts';
import { homeBeside } from '../../workspaces/mount-workspaces.ts';
import type { UidSlots } from '../host/uid-slots.ts';
import { type Calls, IDLE_MS } from './calls.ts';
import { Keep } from './keep.ts';
import { limitsIn } from './kind.ts';

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

export interface StockParts {
  mount: {
    reserve(place: string, uid: number): Promise<string>;
    release(place: string): Promise<unknown>;
  };
  prepare(spec: Pick<SandboxSpec, 'uid' | 'workspace' | 'home' | 'resources'>): Promise<ReadySandbox>;
  uids: Pick<UidSlots, 'take' | 'release' | 'free'>;
  /** Maximum number of ready sandboxes of all stocks. */
  most: number;
  /** How many this stock may have now; it makes no more while there are `most` in all. */
  share(): number;
  isFull(): boolean;
  calls: Calls;
  log: Log;
  /** Monotonic time in milliseconds. */
  now(): number;
}

/** Milliseconds that calls without a pause delay the next one: it costs as much as any creation. */
const PATIENCE_MS = 250;
/** Milliseconds that the end of the server waits for the one that is being made. */
const END_MS = 2000;
/** Milliseconds between looks for surplus and dead ones. */
const LOOK_MS = 5000;
/** Milliseconds after a failure, doubled with each further one. */
const RETRY_MS = 1000;
const LONGEST_RETRY_MS = 60_000;

/** Ready sandboxes of one runtime, made one at a time while no call begins or ends. */
export class Stock {
  readonly #parts: StockParts;
  readonly #keep: Keep;
  #ready: Taken[] = [];
  #resources: ResourceLimits | undefined;
  #making: Promise<void> | undefined;
  readonly #discarding = new Set<Promise<void>>();
  #timer: NodeJS.Timeout | undefined;
  #look: NodeJS.Timeout | undefined;
  #wantedSince: number | undefined;
  #failures = 0;
  /** Incremented when the mount fails, and with it every place. */
  #mounts = 0;
  #closed = false;

  constructor(parts: StockParts) {
    this.#parts = parts;
    this.#keep = new Keep(parts.most);
  }

  /** Including the one that is being made. */
  get count(): number {
    return this.#ready.length + (this.#making ? 1 : 0);
  }

  /** How many it would have without others. */
  get wanted(): number {
    return this.#keep.number(this.#parts.now());
  }

  /** One for a new sandbox, if there is one; the caller owns it, and its uid. */
  take(resources: ResourceLimits): Taken | undefined {
    if (this.#resources !== undefined && limitsIn(resources) !== limitsIn(this.#resources)) this.discardAll();
    this.#resources = resources;
    for (let taken = this.#ready.shift(); taken; taken = this.#ready.shift()) {
      if (taken.sandbox.isFit()) return taken;
      this.#parts.log.warn('a ready sandbox had ended, or changed');
      this.#discard(taken);
    }
    return undefined;
  }

  /** Notes a creation with these limits. */
  created(resources: ResourceLimits): void {
    this.#resources ??= resources;
    this.#keep.created(this.#parts.now());
  }

  /** Call when the mount has failed. */
  lost(): void {
    this.#mounts++;
    this.discardAll();
  }

  discardAll(): void {
    for (const each of this.#ready.splice(0)) this.#discard(each);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    clearInterval(this.#look);
    // What takes longer, for example with a daemon that does not answer, is left to the next server.
    await Promise.race([this.#making, delay(END_MS, undefined, { ref: false })]);
    this.discardAll();
    await Promise.all(this.#discarding);
  }

  /** Makes the next one when nothing else runs, if one is missing. */
  schedule(): void {
    clearTimeout(this.#timer);
    const { most, now, uids, share, isFull } = this.#parts;
    if (this.#closed || this.#making || this.#resources === undefined || uids.free < 4 * most) return;
    if (this.#ready.length >= share() || isFull()) {
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
    if (!this.#parts.calls.areIdle && now - (this.#wantedSince ?? now) < PATIENCE_MS) {
      this.schedule();
      return;
    }
    this.#wantedSince = undefined;
    this.#making = this.#make().finally(() => {
      this.#making = undefined;
      this.schedule();
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
      const sandbox = await this.#parts.prepare({ uid, workspace: path, home: homeBeside(path), resources });
      const discard = async () => {
        await sandbox.discard();
        await mount.release(place).catch(() => undefined);
      };
      const made = { uid, place, workspace: path, sandbox, discard };
      const isLate = this.#closed || mounts !== this.#mounts || limitsIn(resources) !== limitsIn(this.#resources!);
      if (isLate) this.#discard(made);
      else this.#ready.push(made);
      this.#failures = 0;
      this.#look ??= setInterval(() => this.#trim(), LOOK_MS).unref();
    } catch (err) {
      this.#failures++;
      log.warn('no sandbox could be made ready', { err });
      if (path !== undefined) await mount.release(place).catch(() => undefined);
      uids.release(uid);
    }
  }

  /** Discards those beyond its share. */
  shrink(): void {
    const surplus = this.#ready.length - this.#parts.share();
    if (surplus > 0) for (const each of this.#ready.splice(0, surplus)) this.#discard(each);
  }

  #trim(): void {
    const unfit = this.#ready.filter(({ sandbox }) => !sandbox.isFit());
    this.#ready = this.#ready.filter((each) => !unfit.includes(each));
    for (const each of unfit) this.#discard(each);
    this.shrink();
    if (this.#ready.length === 0) {
      clearInterval(this.#look);
      this.#look = undefined;
    }
    this.schedule();
  }

  /** The user is free again when nothing of it is left. */
  #discard(ready: Taken): void {
    const discarding = ready.discard().then(() => this.#parts.uids.release(ready.uid));
    this.#discarding.add(discarding);
    void discarding.then(() => this.#discarding.delete(discarding));
  }
}
