import { IdIndex } from '../id-index.ts';
import { IdMap } from '../id-map.ts';
import type { SandboxFilter } from '../services.ts';
import { SortedList } from '../sorted-list.ts';
import { dueAt } from './lifecycle/kept.ts';
import type { LiveSandbox } from './sandbox.ts';

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
  readonly #index = new IdIndex<LiveSandbox>();
  readonly #due = new SortedList<Due>((a, b) => a.at - b.at || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
  readonly #places = new Map<string, Due>();
  /** Those that their idle policy may end. */
  readonly idling = new Set<LiveSandbox>();
  /** Those that expired and are kept. */
  readonly kept = new Set<LiveSandbox>();

  override set(id: string, sandbox: LiveSandbox): this {
    sandbox.set = this;
    for (const key of keysOf(sandbox)) this.#index.add(key, sandbox);
    this.#observe(sandbox, true);
    return super.set(id, sandbox);
  }

  override delete(id: string): boolean {
    const sandbox = this.get(id);
    if (sandbox === undefined) return false;
    sandbox.set = undefined;
    for (const key of keysOf(sandbox)) this.#index.delete(key, sandbox);
    this.#observe(sandbox, false);
    return super.delete(id);
  }

  /** Runs a change of the record or the status of a sandbox in the set. */
  change(sandbox: LiveSandbox, change: () => void): void {
    const before = keysOf(sandbox);
    change();
    const after = keysOf(sandbox);
    for (const key of before) if (!after.includes(key)) this.#index.delete(key, sandbox);
    for (const key of after) if (!before.includes(key)) this.#index.add(key, sandbox);
    this.#observe(sandbox, true);
  }

  /** Those on a codebase. */
  onCodebase(id: string): LiveSandbox[] {
    return this.#index.of(codebaseKey(id));
  }

  /** Whether some were forked from the layer. */
  hasOrigin(layer: string): boolean {
    return this.#index.size(originKey(layer)) > 0;
  }

  /** Those of RUNTIME_BWRAP with an image. */
  withImage(id: string): LiveSandbox[] {
    return this.#index.of(imageKey(id));
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
    const keys = [
      ...(codebase_id === '' ? [] : [codebaseKey(codebase_id)]),
      ...(owner_id === '' ? [] : [ownerKey(owner_id)]),
      ...(status === undefined ? [] : [statusKey(status)]),
      ...Object.entries(labels).map(([key, value]) => labelKey(key, value)),
    ];
    const [first, ...others] = keys;
    if (first === undefined) return this.newestFirst(before);
    const smallest = others.reduce((a, b) => (this.#index.size(b) < this.#index.size(a) ? b : a), first);
    return this.#index.newestFirst(smallest, before);
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

function keysOf({ record, status }: LiveSandbox): string[] {
  const { codebase_id, owner_id, runtime, image, labels, origin } = record;
  const keys = [codebaseKey(codebase_id), ownerKey(owner_id), statusKey(status)];
  if (runtime === 'RUNTIME_BWRAP' && image !== '') keys.push(imageKey(image));
  if (origin !== undefined) keys.push(originKey(origin));
  for (const key of Object.keys(labels)) keys.push(labelKey(key, labels[key]!));
  return keys;
}

const codebaseKey = (id: string) => `codebase ${id}`;
const ownerKey = (id: string) => `owner ${id}`;
const originKey = (layer: string) => `origin ${layer}`;
const statusKey = (status: string) => `status ${status}`;
const imageKey = (id: string) => `image ${id}`;
const labelKey = (key: string, value: string) => `label ${key.length} ${key} ${value}`;
