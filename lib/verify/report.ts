import { getSystemErrorName } from 'node:util';
import { Errno, errorCode } from '../linux/errno.ts';
import { Damage } from '../workspaces/delta/damage.ts';

/** Counts for the last line. */
export interface Counts {
  codebases: number;
  sandboxes: number;
  layers: number;
  /** Contents of files, in slots and in data files. */
  contents: number;
  /** Of these, the ones without a checksum. */
  unchecked: number;
}

/** The findings of a check. Each damaged item is reported once, with all its owners. */
export class Report {
  readonly counts: Counts = { codebases: 0, sandboxes: 0, layers: 0, contents: 0, unchecked: 0 };
  readonly #damages = new Map<string, { what: string; where: string; owners: Set<string> }>();
  readonly #notes = new Set<string>();

  /**
   * Reports the damage `what` of the file or directory `where`; `owner`: the affected object, for example "sandbox
   * sb_…".
   */
  damage(what: string, where: string, owner: string): void {
    const key = `${where}\n${what}`;
    const known = this.#damages.get(key) ?? { what, where, owners: new Set() };
    known.owners.add(owner);
    this.#damages.set(key, known);
  }

  /**
   * Reports an error thrown by `read` as damage and returns undefined. `where` is used unless the error names its
   * location.
   */
  async attempt<T>(where: string, owner: string, read: () => T | Promise<T>): Promise<T | undefined> {
    try {
      return await read();
    } catch (error) {
      if (error instanceof Damage) this.damage(error.message, error.path ?? where, owner);
      else this.damage(`cannot be read: ${reasonOf(error)}`, where, owner);
      return undefined;
    }
  }

  note(text: string): void {
    this.#notes.add(text);
  }

  get damaged(): number {
    return this.#damages.size;
  }

  /** A line for each damaged item, then the notes, then the counts. */
  *lines(): Generator<string> {
    for (const { what, where, owners } of this.#damages.values()) {
      yield `damaged: ${oneLine(where)}: ${oneLine(what)} (${[...owners].map(oneLine).join('; ')})`;
    }
    for (const note of this.#notes) yield `note: ${oneLine(note)}`;
    const { codebases, sandboxes, layers, contents, unchecked } = this.counts;
    yield `${this.damaged} damaged, ${this.#notes.size} notes; checked ${codebases} codebases, ${sandboxes} sandboxes, ` +
      `${layers} layers, ${contents} contents of files (${unchecked} of them without a checksum)`;
  }
}

/** Names of files come from programs in sandboxes: control characters must not reach a terminal. */
function oneLine(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (char) => `\\u${char.codePointAt(0)!.toString(16).padStart(4, '0')}`,
  );
}

export function reasonOf(error: unknown): string {
  if (error instanceof Errno) return getSystemErrorName(-error.errno);
  if (!(error instanceof Error)) return String(error);
  return errorCode(error) ?? error.message;
}
