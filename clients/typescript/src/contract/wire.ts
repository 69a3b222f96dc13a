import { type Duration, secondsOf } from '../duration.ts';
import { invalid } from '../invalid.ts';
import { durations, enums, forms } from './operations.ts';

type Json = Readonly<Record<string, unknown>>;

/** The names and values of the contract. The keys of maps are the caller's own. */
export function toWire(value: unknown): unknown {
  if (value instanceof Uint8Array) return toBase64(value);
  if (Array.isArray(value)) return value.map(toWire);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).filter(([, each]) => each !== undefined);
  return Object.fromEntries(entries.map(([name, each]) => toField(snake(name), each)));
}

function toField(name: string, value: unknown): [string, unknown] {
  // In a merge patch, null removes.
  return [name, value === null ? null : (writers.get(name) ?? toWire)(value)];
}

/** The names and values of this package. */
export function fromWire(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(fromWire);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [camel(name), (readers.get(name) ?? fromWire)(each)]),
  );
}

const READERS: Readonly<Record<string, (value: unknown) => unknown>> = {
  map: (value) => value,
  bytes: (value) => (typeof value === 'string' ? fromBase64(value) : value),
  time: (value) => new Date(Number(value) * 1000),
  'time?': (value) => (value === 0 ? undefined : new Date(Number(value) * 1000)),
  // A value that this version does not know becomes a word, too.
  enum: (value) => (NAME.test(String(value)) ? wordOf(String(value)) : value),
};

const wordOf = (name: string): string => name.slice(name.indexOf('_') + 1).toLowerCase();

const NAME = /^[A-Z][A-Z0-9_]*$/;
const readers = new Map(Object.entries(forms).map(([name, form]) => [name, READERS[form]!]));

const writers = new Map<string, (value: unknown) => unknown>([
  ...[...readers].filter(([, reader]) => reader === READERS.map),
  ...Object.entries(enums).map(
    ([name, each]) => [name, (word: unknown) => wireName(name, each, String(word))] as const,
  ),
  ...Object.entries(durations).map(
    ([name, perSecond]) => [name, (value: unknown) => unitsOf(camel(name), value as Duration, perSecond)] as const,
  ),
]);

/** As the service counts it. A part of a unit would be another time limit than the caller's. */
function unitsOf(name: string, value: Duration, perSecond: number): number {
  const units = Number((secondsOf(name, value) * perSecond).toFixed(3));
  if (!Number.isInteger(units)) throw invalid(`${name} must be whole ${perSecond === 1 ? 'seconds' : 'milliseconds'}`);
  return units;
}

/** Of a word, or of the wire's name itself, which the documentation of the API has. */
function wireName(field: string, { prefix, words }: (typeof enums)[string], word: string): string {
  if (word.startsWith(prefix)) return word;
  if (words.includes(word)) return prefix + word.toUpperCase();
  throw invalid(`${camel(field)} must be one of ${words.join(', ')}, and not ${JSON.stringify(word)}`);
}

function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function camel(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

interface Base64 {
  from(text: string, encoding: 'base64'): Uint8Array;
}

/** Many times as fast as `atob`, where there is one. */
const native = (globalThis as { Buffer?: Base64 }).Buffer;

function fromBase64(text: string): Uint8Array {
  if (native === undefined) return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  const { buffer, byteOffset, byteLength } = native.from(text, 'base64');
  return new Uint8Array(buffer, byteOffset, byteLength);
}

function toBase64(bytes: Uint8Array): string {
  const pieces: string[] = [];
  for (let at = 0; at < bytes.length; at += 0x2000) {
    pieces.push(String.fromCharCode(...bytes.subarray(at, at + 0x2000)));
  }
  return btoa(pieces.join(''));
}
