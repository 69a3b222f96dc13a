import { MAPS } from './operations.ts';

const maps: ReadonlySet<string> = new Set(MAPS);

type Json = Readonly<Record<string, unknown>>;

/** The names of the contract, bytes as base64. The keys of maps are the caller's own. */
export function toWire(value: unknown): unknown {
  if (value instanceof Uint8Array) return toBase64(value);
  if (Array.isArray(value)) return value.map(toWire);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).filter(([, each]) => each !== undefined);
  return Object.fromEntries(entries.map(([name, each]) => [snake(name), maps.has(name) ? each : toWire(each)]));
}

/** The names of this package. The only fields of bytes have the name `data`. */
export function fromWire(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(fromWire);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => {
      if (maps.has(name)) return [name, each];
      return [camel(name), name === 'data' && typeof each === 'string' ? fromBase64(each) : fromWire(each)];
    }),
  );
}

export const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const camel = (name: string): string => name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

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
