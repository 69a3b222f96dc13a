import type { Key } from '../../trees/format/keys.ts';
import { OpenPack, type PackPlace } from './open-pack.ts';
import { quietly } from './pack.ts';
import type { Packed, RecordKind } from './record.ts';

export interface WriterEvents {
  /** A pack has its index, and is durable. */
  sealed(name: string): void;
  /** Objects that were appended and never synced are gone. */
  lost(keys: readonly Key[]): void;
}

/** Appends to one pack after the other, of which it is the only writer. */
export class PackWriter {
  /** Those with their index in memory: the current one, and ones that broke or could not be sealed. */
  readonly open = new Set<OpenPack>();
  readonly #place: PackPlace;
  readonly #events: WriterEvents;
  #current: OpenPack | undefined;

  constructor(place: PackPlace, events: WriterEvents) {
    this.#place = place;
    this.#events = events;
  }

  /** Goes on with a pack that an earlier writer left. */
  reopen(name: string): void {
    const pack = OpenPack.reopen(this.#place, name);
    if (pack === undefined) return;
    this.#add(pack);
    if (this.#current === undefined && !pack.isFull) this.#current = pack;
    else this.#seal(pack);
  }

  append(kind: RecordKind, key: Key, payload: Uint8Array): Packed {
    if (this.#current?.isFull) this.finish();
    this.#current ??= this.#add(OpenPack.create(this.#place));
    return this.#current.append(kind, key, payload);
  }

  /** All that was appended and not lost is durable, or is lost and this throws. */
  sync(): void {
    this.#current?.sync();
  }

  /** Ends the current pack: synced, and sealed if possible. */
  finish(): void {
    const pack = this.#current;
    this.#current = undefined;
    if (pack === undefined) return;
    pack.sync();
    this.#seal(pack);
  }

  #add(pack: OpenPack): OpenPack {
    pack.onLost = (keys) => this.#events.lost(keys);
    this.open.add(pack);
    return pack;
  }

  #seal(pack: OpenPack): void {
    if (pack.objects === 0) quietly(() => pack.remove());
    else if (pack.seal()) this.#events.sealed(pack.name);
    else return;
    this.open.delete(pack);
  }
}
