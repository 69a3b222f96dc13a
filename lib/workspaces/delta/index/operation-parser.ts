/** No name has a slash. */
const LENGTHENED = '/'.repeat(11);
/** Texts in a row that begin with the same directory, from which on its names are lengthened: thousands of names. */
const MANY = 8;

/**
 * The directory of an operation with a name. It is nowhere else in JSON: a quote within a string has a backslash before
 * it, and one that ends a string is before a comma or a bracket.
 */
const DIRECTORY = /\["(?:link|hide|drop)",(\d+),"/;

/**
 * Parses the operations of one journal, a text after the other.
 *
 * V8 enters each string of up to 10 characters that it parses into one table of the thread. With the names of a directory
 * of a million files, which differ, the thread stops for 10 to 30 ms when the table grows, and as long in each full
 * collection. So they are parsed as longer ones. Those of many small directories often are the same: then the table
 * saves memory.
 */
export class OperationParser {
  #directory: string | undefined;
  #texts = 0;
  /** Before a short name in that directory. */
  #before = /(?!)/g;

  /**
   * As JSON.parse, for an array of operations, or of records of them. `operationsOf`: returns those of an item. Throws
   * SyntaxError.
   */
  parse<T>(json: string, operationsOf: (item: T) => Iterable<unknown>): T[] {
    if (!this.#isOfLarge(json)) return JSON.parse(json) as T[];
    const items = JSON.parse(json.replace(this.#before, `$1${LENGTHENED}`)) as T[];
    for (const item of items) for (const operation of operationsOf(item)) shorten(operation);
    return items;
  }

  #isOfLarge(json: string): boolean {
    const directory = DIRECTORY.exec(json)?.[1];
    if (directory === undefined || directory !== this.#directory) {
      this.#directory = directory;
      this.#texts = 0;
    } else if (++this.#texts === MANY) {
      this.#before = new RegExp(`(\\["(?:link|hide|drop)",${directory},")(?=[^"\\\\]{1,10}")`, 'g');
    }
    return this.#texts >= MANY;
  }
}

function shorten(operation: unknown): void {
  if (!Array.isArray(operation)) return;
  const name: unknown = operation[2];
  if (typeof name === 'string' && name.startsWith(LENGTHENED)) operation[2] = name.slice(LENGTHENED.length);
}
