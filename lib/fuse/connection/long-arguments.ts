import { breaks } from '../../breaks.ts';

/** Items of a list that cross in one message; a longer list crosses in several. */
export const ITEMS_PER_MESSAGE = 1024;

/** A message with some items of a list; precedes the call that has the list among its arguments. */
export interface ListPiece {
  list: number;
  items: readonly unknown[];
}

/** Stands for a list that was sent before. */
interface ListReference {
  sentList: number;
}

/** Levels of arrays and objects among the arguments in which lists are looked for. */
const LEVELS = 3;

/** Whether the arguments have a list that crosses in several messages. */
export function hasLongList(args: readonly unknown[]): boolean {
  return contains(args, LEVELS);
}

function contains(value: unknown, levels: number): boolean {
  if (levels === 0 || typeof value !== 'object' || value === null) return false;
  if (isLong(value)) return true;
  if (Array.isArray(value)) return value.some((item) => contains(item, levels - 1));
  return isPlain(value) && Object.values(value).some((field) => contains(field, levels - 1));
}

/**
 * Sends the long lists of a call's arguments, and returns the arguments with references in their places. Other events are
 * handled between the pieces: the clone of 100,000 items takes 50 ms.
 */
export class LongArguments {
  readonly #post: (piece: ListPiece) => void;
  #nextList = 1;

  constructor(post: (piece: ListPiece) => void) {
    this.#post = post;
  }

  async send(args: readonly unknown[]): Promise<unknown[]> {
    return (await this.#send(args, LEVELS)) as unknown[];
  }

  async #send(value: unknown, levels: number): Promise<unknown> {
    if (!contains(value, levels)) return value;
    if (isLong(value)) return this.#sendList(value);
    if (Array.isArray(value)) return Promise.all(value.map((item) => this.#send(item, levels - 1)));
    const sent: Record<string, unknown> = {};
    for (const [name, field] of Object.entries(value as object)) sent[name] = await this.#send(field, levels - 1);
    return sent;
  }

  async #sendList(items: readonly unknown[]): Promise<ListReference> {
    const list = this.#nextList++;
    for (let from = 0; from < items.length; from += ITEMS_PER_MESSAGE) {
      this.#post({ list, items: items.slice(from, from + ITEMS_PER_MESSAGE) });
      const due = breaks.due();
      if (due !== undefined) await due;
    }
    return { sentList: list };
  }
}

/** The receiver's end of `LongArguments`. */
export class ReceivedLists {
  readonly #lists = new Map<number, unknown[]>();

  add({ list, items }: ListPiece): void {
    const all = this.#lists.get(list) ?? [];
    if (all.length === 0) this.#lists.set(list, all);
    for (const item of items) all.push(item);
  }

  /** The arguments with their lists, which are forgotten. */
  complete(args: readonly unknown[]): readonly unknown[] {
    return this.#lists.size === 0 ? args : (this.#completed(args, LEVELS) as unknown[]);
  }

  #completed(value: unknown, levels: number): unknown {
    if (levels === 0) return value;
    if (Array.isArray(value)) return value.map((item) => this.#completed(item, levels - 1));
    if (!isPlain(value)) return value;
    const { sentList } = value as Partial<ListReference>;
    const list = sentList === undefined ? undefined : this.#lists.get(sentList);
    if (list === undefined) {
      return Object.fromEntries(
        Object.entries(value).map(([name, field]) => [name, this.#completed(field, levels - 1)]),
      );
    }
    this.#lists.delete(sentList!);
    return list;
  }
}

function isLong(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.length > ITEMS_PER_MESSAGE;
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
