/**
 * Gives records that were read from a file one copy of equal values: rules, limits and names are mostly those of other
 * sandboxes. Records are immutable, and so is what they have.
 */
export class SharedValues {
  readonly #values = new Map<string, unknown>();

  /** Replaces the values of the record. */
  share(record: Record<string, unknown>): void {
    for (const name in record) {
      const value = record[name];
      if (name === 'id' || typeof value === 'number' || typeof value === 'boolean') continue;
      const key = typeof value === 'string' ? value : JSON.stringify(value);
      const known = this.#values.get(key);
      // A text that is equal to the JSON of another value is left as it is.
      if (known === undefined) this.#values.set(key, value);
      else if (typeof known === typeof value) record[name] = known;
    }
  }
}
