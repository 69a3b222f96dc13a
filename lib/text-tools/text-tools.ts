import type { ChosenHunks } from '../contract/messages.ts';
import { serveThread } from '../threads/serve-thread.ts';
import { withSharedInput } from './command-input.ts';
import { diffOf } from './diff.ts';
import { type EditedText, editText, type TextEdit } from './edit-text.ts';
import { type Comparison, chosenText, digest, fileDiff } from './file-diff.ts';
import { digestOfFile } from './file-digest.ts';
import { parseJson } from './parse-json.ts';
import { type PathPatterns, PathSearch } from './path-search.ts';
import { type FoundLines, type TextQuery, TextSearch } from './text-search.ts';

interface ListedPath {
  /** Relative to the directory that is listed. */
  path: string;
  /** What is shown of it. */
  line: string;
}

/**
 * Work on texts and lists of paths that takes long for the largest inputs: it runs in a thread of the role `text-tools`,
 * which ends with the call that it works for.
 */
export class TextTools {
  #search: PathSearch | undefined;
  #texts: TextSearch | undefined;
  #found: string[] = [];
  #count = 0;

  edit(edit: TextEdit): EditedText {
    return editText(edit);
  }

  /** The value of the body of a request. INVALID_ARGUMENT: it is not JSON. */
  parseJson(body: Uint8Array): unknown {
    return parseJson(body);
  }

  /** The same, of a command's request. */
  parseCommand(body: Uint8Array): unknown {
    return withSharedInput(parseJson(body));
  }

  /** The hunks of a diff of two texts. */
  diff(before: Uint8Array, after: Uint8Array): Uint8Array {
    return diffOf(before, after);
  }

  /** See `fileDiff`. */
  compare(before: Uint8Array, after: Uint8Array): Comparison {
    return fileDiff(before, after);
  }

  /** See `chosenText`. */
  choose(before: Uint8Array, after: Uint8Array, choice: ChosenHunks, at: string): Uint8Array {
    return chosenText(before, after, choice, at);
  }

  /** See `digestOfFile`. */
  digest(fd: number, size: number): string {
    return digestOfFile(fd, size);
  }

  digestBytes(bytes: Uint8Array): string {
    return digest(bytes);
  }

  /** Begins a search. INVALID_ARGUMENT names the pattern. */
  search(patterns: PathPatterns): void {
    this.#search = new PathSearch(patterns);
    this.#found = [];
    this.#count = 0;
  }

  /** Searches in the next paths, in byte order. Keeps the first `most` that were found. */
  add(paths: readonly ListedPath[], most: number): void {
    for (const listed of paths) {
      if (this.#search?.finds(listed.path) !== true) continue;
      if (this.#count++ < most) this.#found.push(listed.line);
    }
  }

  /** What was found. `more`: paths that were not kept. */
  found(): { lines: string[]; more: number } {
    return { lines: this.#found, more: this.#count - this.#found.length };
  }

  /** Begins a search in the files of an archive. INVALID_ARGUMENT names the pattern. */
  searchTexts(query: TextQuery): void {
    this.#texts = new TextSearch(query);
  }

  /** Searches in the next bytes of the archive. Returns all that was found. */
  feed(bytes: Uint8Array): FoundLines {
    return this.#texts!.feed(bytes);
  }

  close(): void {
    this.#texts = undefined;
    this.#search = undefined;
    this.#found = [];
  }
}

/** Runs the thread of the role `text-tools`. */
export function runTextTools(): void {
  serveThread(() => new TextTools());
}
