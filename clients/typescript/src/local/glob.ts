import { classOf } from './glob-class.ts';

/** A byte, or which bytes it may be. */
type Unit = number | Uint8Array;

/** What stands between two `*` of a component. */
interface Chunk {
  units: readonly Unit[];
  /** The same, if no unit has a choice. */
  literal: string | undefined;
}

/** A component: its chunks, with any run of bytes between them. DEEP: any number of components. */
type Part = readonly Chunk[] | typeof DEEP;

const DEEP = 'deep';
const ANY_NAME: Part = [chunkOf([]), chunkOf([])];
/** No path is longer, so a longer pattern matches nothing. */
const MOST_BYTES = 4096;
const ANY_BYTE = new Uint8Array(256).fill(1);

/** A text as a string of its UTF-8 bytes: git matches bytes. */
export const bytesOf = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII is the same.
  /^[\x00-\x7f]*$/.test(text) ? text : Buffer.from(text).toString('latin1');

/**
 * A glob as git reads it (wildmatch with WM_PATHNAME), for paths of bytes. The threat: a tree brings its own patterns. So
 * the time is at most path × pattern for any input: of several runs only the last one is tried again.
 */
export class Glob {
  readonly #prefix: string;
  readonly #parts: readonly Part[];

  private constructor(prefix: string, parts: readonly Part[]) {
    this.#prefix = prefix;
    this.#parts = parts;
  }

  /** undefined: it matches nothing. `anywhere`: in any directory. */
  static parse(text: string, anywhere: boolean): Glob | undefined {
    const prefix = anywhere ? '' : prefixOf(text);
    const parts = partsOf(text.slice(prefix.length));
    if (parts === undefined) return undefined;
    const least = parts.flat().reduce((sum, part) => sum + (part === DEEP ? 0 : part.units.length), 0);
    if (least > MOST_BYTES) return undefined;
    return new Glob(prefix, anywhere ? [DEEP, ...parts] : parts);
  }

  /** `names`: the components of the path. */
  matches(names: readonly string[]): boolean {
    if (this.#prefix === '') return this.#matches(names);
    const path = names.join('/');
    return path.startsWith(this.#prefix) && this.#matches(path.slice(this.#prefix.length).split('/'));
  }

  #matches(names: readonly string[]): boolean {
    const parts = this.#parts;
    let part = 0;
    let name = 0;
    let deepPart = -1;
    let deepName = 0;
    while (name < names.length) {
      const expected = parts[part];
      if (expected === DEEP) {
        deepPart = part++;
        // Only one name is left for the last part.
        if (part === parts.length - 1) name = names.length - 1;
        deepName = name;
      } else if (expected !== undefined && matchesName(expected, names[name]!)) {
        part++;
        name++;
      } else if (deepPart >= 0) {
        part = deepPart + 1;
        name = ++deepName;
      } else return false;
    }
    return part === parts.length;
  }
}

/**
 * Bytes before a `**` that stand in its component. git compares what is before the first special byte by itself, and then
 * takes the `**` for directories.
 */
function prefixOf(text: string): string {
  return /^[^*?[\\]*[^*?[\\/](?=\*{2,}(\\?\/|$))/.exec(text.slice(0, MOST_BYTES))?.[0] ?? '';
}

function chunkOf(units: readonly Unit[]): Chunk {
  const plain = units.every((unit) => typeof unit === 'number');
  return { units, literal: plain ? String.fromCharCode(...(units as number[])) : undefined };
}

function matchesName(chunks: readonly Chunk[], name: string): boolean {
  const first = chunks[0]!;
  if (chunks.length === 1) return first.units.length === name.length && fits(first, name, 0);
  const last = chunks[chunks.length - 1]!;
  const end = name.length - last.units.length;
  let at = first.units.length;
  if (at > end || !fits(first, name, 0) || !fits(last, name, end)) return false;
  for (let index = 1; index < chunks.length - 1; index++) {
    const chunk = chunks[index]!;
    const place = find(chunk, name, at);
    if (place === -1) return false;
    at = place + chunk.units.length;
    if (at > end) return false;
  }
  return true;
}

function fits({ units, literal }: Chunk, name: string, at: number): boolean {
  if (literal !== undefined) return name.startsWith(literal, at);
  return units.every((unit, index) => {
    const byte = name.charCodeAt(at + index);
    return typeof unit === 'number' ? unit === byte : unit[byte] === 1;
  });
}

/** The first place from `at` on. -1: none. */
function find(chunk: Chunk, name: string, at: number): number {
  if (chunk.literal !== undefined) return name.indexOf(chunk.literal, at);
  for (let place = at; place + chunk.units.length <= name.length; place++) if (fits(chunk, name, place)) return place;
  return -1;
}

function partsOf(text: string): Part[] | undefined {
  const parts: Part[] = [];
  for (let at = 0; at <= text.length; ) {
    const [stars = ''] = /^\*{2,}(?=\\?\/|$)/.exec(text.slice(at, at + MOST_BYTES)) ?? [];
    if (stars !== '') {
      const isEscaped = text[at + stars.length] === '\\';
      at += stars.length + (isEscaped ? 2 : 1);
      if (parts.at(-1) !== DEEP) parts.push(DEEP);
      // At the end it stands for what is below, without the directory itself. An escaped slash needs one directory.
      if (isEscaped || at > text.length) parts.push(ANY_NAME);
      continue;
    }
    const component = componentOf(text, at);
    if (component === undefined) return undefined;
    parts.push(component.chunks);
    at = component.end + 1;
  }
  return parts;
}

/** The component at `at`. `end`: that of its slash, or of the text. undefined: it matches nothing. */
function componentOf(text: string, at: number): { chunks: Chunk[]; end: number } | undefined {
  const chunks: Chunk[] = [];
  let units: Unit[] = [];
  let end = at;
  for (; end < text.length && text[end] !== '/'; end++) {
    const char = text[end];
    if (char === '*') {
      if (units.length > 0 || chunks.length === 0) chunks.push(chunkOf(units));
      units = [];
    } else if (char === '?') units.push(ANY_BYTE);
    else if (char === '[') {
      const found = classOf(text, end + 1);
      if (found === undefined) return undefined;
      units.push(found.bytes);
      end = found.end;
    } else if (char === '\\') {
      if (++end === text.length) return undefined;
      // A slash is one, whatever stands before it.
      if (text[end] === '/') break;
      units.push(text.charCodeAt(end));
    } else units.push(text.charCodeAt(end));
  }
  if (units.length > MOST_BYTES) return undefined;
  return { chunks: [...chunks, chunkOf(units)], end };
}
