/**
 * Gives records that were read from a file one copy of equal values: rules, limits and names are mostly those of other
 * sandboxes. Records are immutable, and so is what they have.
 */
export class SharedValues {
  readonly #values = new Map<string, unknown>();
  /** Most values are those of the record before; to compare two takes a fraction of the time of a lookup by JSON. */
  #last: Readonly<Record<string, unknown>> = {};

  /** Replaces the values of the record. */
  share(record: Record<string, unknown>): void {
    const last = this.#last;
    this.#last = record;
    for (const name in record) {
      const value = record[name];
      if (name === 'id' || typeof value === 'number' || typeof value === 'boolean') continue;
      record[name] = isEqual(value, last[name]) ? last[name] : this.#shared(value);
    }
  }

  #shared(value: unknown): unknown {
    const key = typeof value === 'string' ? value : JSON.stringify(value);
    const known = this.#values.get(key);
    if (known === undefined) this.#values.set(key, value);
    // A text that is equal to the JSON of another value is left as it is.
    return known !== undefined && typeof known === typeof value ? known : value;
  }
}

/** Of values of JSON. */
function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  const [of, other] = [a as Record<string, unknown>, b as Record<string, unknown>];
  let names = 0;
  for (const name in of) {
    if (!isEqual(of[name], other[name])) return false;
    names++;
  }
  for (const _ in other) names--;
  return names === 0 && Array.isArray(a) === Array.isArray(b);
}
