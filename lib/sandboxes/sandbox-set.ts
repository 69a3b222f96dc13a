import { IdIndex } from '../id-index.ts';
import { IdMap } from '../id-map.ts';
import type { SandboxFilter } from '../services.ts';
import { SortedList } from '../sorted-list.ts';
import { dueAt } from './lifecycle/kept.ts';
import type { LiveSandbox } from './sandbox.ts';

/** Where an index has a sandbox. The indexes are apart, so that a value of a record is a key as it is: a start adds many. */
type Entry = readonly [index: IdIndex<LiveSandbox>, key: string];

/** A place in the order of expiry. */
interface Due {
  readonly at: number;
  readonly id: string;
}

/**
 * All sandboxes in memory, with indexes, so that no operation looks at all of them. A sandbox in the set changes its record
 * and status by `change` only.
 */
export class SandboxSet extends IdMap<LiveSandbox> {
  readonly #byCodebase = new IdIndex<LiveSandbox>();
  readonly #byOwner = new IdIndex<LiveSandbox>();
  readonly #byStatus = new IdIndex<LiveSandbox>();
  readonly #byLabel = new IdIndex<LiveSandbox>();
  /** By the layer that they were forked from. */
  readonly #byOrigin = new IdIndex<LiveSandbox>();
  /** Those of RUNTIME_BWRAP. */
  readonly #byImage = new IdIndex<LiveSandbox>();
  readonly #due = new SortedList<Due>((a, b) => a.at - b.at || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
  readonly #places = new Map<string, Due>();
  /** Those that their idle policy may end. */
  readonly idling = new Set<LiveSandbox>();
  /** Those that expired and are kept. */
  readonly kept = new Set<LiveSandbox>();

  override set(id: string, sandbox: LiveSandbox): this {
    sandbox.set = this;
    for (const [index, key] of this.#entriesOf(sandbox)) index.add(key, sandbox);
    this.#observe(sandbox, true);
    return super.set(id, sandbox);
  }

  override delete(id: string): boolean {
    const sandbox = this.get(id);
    if (sandbox === undefined) return false;
    sandbox.set = undefined;
    for (const [index, key] of this.#entriesOf(sandbox)) index.delete(key, sandbox);
    this.#observe(sandbox, false);
    return super.delete(id);
  }

  /** Runs a change of the record or the status of a sandbox in the set. */
  change(sandbox: LiveSandbox, change: () => void): void {
    const before = this.#entriesOf(sandbox);
    change();
    const after = this.#entriesOf(sandbox);
    for (const entry of before) if (!isAmong(after, entry)) entry[0].delete(entry[1], sandbox);
    for (const entry of after) if (!isAmong(before, entry)) entry[0].add(entry[1], sandbox);
    this.#observe(sandbox, true);
  }

  /** Those on a codebase. */
  onCodebase(id: string): LiveSandbox[] {
    return this.#byCodebase.of(id);
  }

  /** Whether some were forked from the layer. */
  hasOrigin(layer: string): boolean {
    return this.#byOrigin.size(layer) > 0;
  }

  /** Those of RUNTIME_BWRAP with an image. */
  withImage(id: string): LiveSandbox[] {
    return this.#byImage.of(id);
  }

  /** Those whose time has come, by the expiry of their records. `now`: Unix time in seconds. */
  dueBy(now: number): LiveSandbox[] {
    return this.#due.first(this.#due.count(({ at }) => at <= now)).map(({ id }) => this.get(id)!);
  }

  /**
   * Those that may match the filter, and all that do, from the newest to the oldest: of the parts of the filter, that with
   * the fewest sandboxes. See `IdMap.newestFirst`.
   */
  candidates(
    { codebase_id, owner_id = '', status, labels = {} }: SandboxFilter,
    before?: string,
  ): Iterable<LiveSandbox> {
    const entries: Entry[] = [
      ...(codebase_id === '' ? [] : [[this.#byCodebase, codebase_id] as const]),
      ...(owner_id === '' ? [] : [[this.#byOwner, owner_id] as const]),
      ...(status === undefined ? [] : [[this.#byStatus, status] as const]),
      ...Object.entries(labels).map(([key, value]) => [this.#byLabel, labelKey(key, value)] as const),
    ];
    const [first, ...others] = entries;
    if (first === undefined) return this.newestFirst(before);
    const size = ([index, key]: Entry) => index.size(key);
    const [index, key] = others.reduce((a, b) => (size(b) < size(a) ? b : a), first);
    return index.newestFirst(key, before);
  }

  #entriesOf({ record, status }: LiveSandbox): Entry[] {
    const { codebase_id, owner_id, runtime, image, labels, origin } = record;
    const entries: Entry[] = [
      [this.#byCodebase, codebase_id],
      [this.#byOwner, owner_id],
      [this.#byStatus, status],
    ];
    if (runtime === 'RUNTIME_BWRAP' && image !== '') entries.push([this.#byImage, image]);
    if (origin !== undefined) entries.push([this.#byOrigin, origin]);
    for (const key of Object.keys(labels)) entries.push([this.#byLabel, labelKey(key, labels[key]!)]);
    return entries;
  }

  #observe(sandbox: LiveSandbox, isIn: boolean): void {
    const { id, record, status } = sandbox;
    const mayEnd = status === 'SANDBOX_RUNNING' || status === 'SANDBOX_PENDING' || record.on_idle === 'destroy';
    toggle(this.idling, sandbox, isIn && record.idle_timeout > 0 && mayEnd);
    toggle(this.kept, sandbox, isIn && record.kept === true);
    const at = isIn ? dueAt(record) : 0;
    const place = this.#places.get(id);
    if ((place?.at ?? 0) === at) return;
    if (place !== undefined) this.#due.delete(place);
    this.#places.delete(id);
    if (at === 0) return;
    const next = { at, id };
    this.#due.add(next);
    this.#places.set(id, next);
  }
}

function toggle<T>(set: Set<T>, item: T, isIn: boolean): void {
  if (isIn) set.add(item);
  else set.delete(item);
}

function isAmong(entries: readonly Entry[], [index, key]: Entry): boolean {
  return entries.some((entry) => entry[0] === index && entry[1] === key);
}

const labelKey = (key: string, value: string) => `${key.length} ${key} ${value}`;
