import { isIPv6 } from 'node:net';
import { isAbsolute, normalize, resolve } from 'node:path';

/** Context of a value: a relative path is resolved from the config file's directory. */
export interface ValueContext {
  folder: string;
  warn(message: string): void;
}

/** Converts a YAML scalar or a flag's text; throws NotAllowed with the allowed values. */
export type Parse<T> = (raw: unknown, context: ValueContext) => T;

/** The message completes the sentence `value "x" is not allowed: <message>`. */
export class NotAllowed extends Error {}

export interface Address {
  /** Empty: all interfaces. IPv6 without brackets. */
  host: string;
  /** 0: any free port. */
  port: number;
}

export const address: Parse<Address> = (raw) => {
  const match = typeof raw === 'string' ? /^(?:\[([^\]]*)\]|([^:[\]\s]*)):(\d{1,5})$/.exec(raw) : null;
  const port = Number(match?.[3]);
  const bracketed = match?.[1];
  const valid = match && port <= 65535 && (bracketed === undefined || isIPv6(bracketed));
  if (!valid) throw new NotAllowed('an address like :9000, 127.0.0.1:9000 or [::1]:9000, port 0 to 65535');
  return { host: bracketed ?? match[2]!, port };
};

/** Host names and addresses without ports; IPv6 with or without brackets. */
export const hostNames: Parse<readonly string[]> = (raw) => {
  const allowed = 'a list of host names or addresses without ports, like paddock.example.com';
  if (!Array.isArray(raw)) throw new NotAllowed(allowed);
  return raw.map((each: unknown) => {
    const bracketed = typeof each === 'string' ? /^\[(.*)\]$/.exec(each)?.[1] : undefined;
    const name = bracketed ?? each;
    if (typeof name !== 'string' || !(isIPv6(name) || /^[\w.-]{1,253}$/.test(name))) throw new NotAllowed(allowed);
    return name;
  });
};

/** A domain, or what browsers reach it by: with a scheme and a port. Empty: none. */
export const previewDomain: Parse<string> = (raw) => {
  const isValid = typeof raw === 'string' && /^(https?:\/\/)?([a-z0-9-]+\.)*[a-z0-9-]+(:[1-9]\d{0,4})?$|^$/.test(raw);
  if (!isValid)
    throw new NotAllowed('a domain in lower case, like preview.example.com or https://preview.example.com:8443');
  return raw;
};

/**
 * Parses a duration in the syntax of Go's time.ParseDuration, not negative, into milliseconds; a value above 0 becomes
 * at least 1.
 */
export function duration(range: { min: number; max: number; allowed: string }): Parse<number> {
  return (raw) => {
    const ms = raw === 0 ? 0 : typeof raw === 'string' ? parseDuration(raw) : undefined;
    if (ms === undefined) throw new NotAllowed(`${range.allowed}, like 250ms, 30s, 5m or 1h30m`);
    if (ms < range.min || ms > range.max) throw new NotAllowed(range.allowed);
    return ms;
  };
}

const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3, // U+00B5
  μs: 1e-3, // U+03BC
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

function parseDuration(text: string): number | undefined {
  if (/^[+-]?0$/.test(text)) return 0;
  if (!/^\+?((\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h))+$/.test(text)) return undefined;
  let ms = 0;
  for (const [, amount, unit] of text.matchAll(/([\d.]+)(ns|us|µs|μs|ms|s|m|h)/g))
    ms += Number(amount) * UNIT_MS[unit!]!;
  return Math.ceil(ms);
}

export function oneOf<const T extends string>(...names: readonly T[]): Parse<T> {
  return (raw) => {
    const found = names.find((name) => name === raw);
    if (found === undefined) throw new NotAllowed(`one of ${names.join(', ')}`);
    return found;
  };
}

export function integer(min: number, max: number): Parse<number> {
  return (raw) => {
    if (!Number.isInteger(raw) || (raw as number) < min || (raw as number) > max) {
      throw new NotAllowed(`a whole number from ${min} to ${max}`);
    }
    return raw as number;
  };
}

/** A whole number of 0 or more. */
export const wholeNumber: Parse<number> = integer(0, Number.MAX_SAFE_INTEGER);

/** Accepts a value of `parse` that is not smaller. */
export function atLeast(parse: Parse<number>, minimum: number): Parse<number> {
  return (raw, context) => {
    const value = parse(raw, context);
    if (value < minimum) throw new NotAllowed(`at least ${minimum}`);
    return value;
  };
}

/** Accepts 0, or a value of `parse` within a range. */
export function zeroOr(
  parse: Parse<number>,
  { minimum, maximum }: { minimum: number; maximum: number },
): Parse<number> {
  return (raw, context) => {
    const value = parse(raw, context);
    if (value !== 0 && (value < minimum || value > maximum)) {
      throw new NotAllowed(`0 (no limit) or from ${minimum} to ${maximum}`);
    }
    return value;
  };
}

/** Accepts `auto`, or what `parse` accepts. */
export function autoOr<T>(parse: Parse<T>): Parse<T | 'auto'> {
  return (raw, context) => {
    if (raw === 'auto') return 'auto';
    try {
      return parse(raw, context);
    } catch (error) {
      throw error instanceof NotAllowed ? new NotAllowed(`auto, ${error.message}`) : error;
    }
  };
}

const SUFFIX_BYTES: Readonly<Record<string, number>> = { KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 };

export const byteSize: Parse<number> = (raw) => {
  const match = typeof raw === 'string' ? /^(\d+) ?(KiB|MiB|GiB|TiB)$/.exec(raw) : null;
  const bytes = match ? Number(match[1]) * SUFFIX_BYTES[match[2]!]! : raw;
  if (!Number.isSafeInteger(bytes) || (bytes as number) < 0) {
    throw new NotAllowed('a number of bytes, 0 or more, like 1048576, 512KiB, 64MiB or 10GiB');
  }
  return bytes as number;
};

export const boolean: Parse<boolean> = (raw) => {
  if (typeof raw !== 'boolean') throw new NotAllowed('true or false');
  return raw;
};

/** Any text, including the empty one. */
export const optionalText: Parse<string> = (raw) => {
  if (raw === null) return '';
  if (typeof raw !== 'string' || raw.includes('\0')) throw new NotAllowed('a text');
  return raw;
};

export const text: Parse<string> = (raw) => {
  if (typeof raw !== 'string' || raw.trim() === '' || raw.includes('\0'))
    throw new NotAllowed('a text that is not empty');
  return raw;
};

/** A list of texts that are not empty. */
export const texts: Parse<readonly string[]> = (raw, context) => {
  if (!Array.isArray(raw)) throw new NotAllowed('a list of texts that are not empty');
  return raw.map((each) => text(each, context));
};

export const absolutePath: Parse<string> = (raw) => {
  if (typeof raw !== 'string' || !isAbsolute(raw) || raw.includes('\0')) throw new NotAllowed('an absolute path');
  return normalize(raw);
};

/** An absolute path, or an empty text. */
export const optionalPath: Parse<string> = (raw, context) => {
  if (raw === '') return raw;
  try {
    return absolutePath(raw, context);
  } catch {
    throw new NotAllowed('an absolute path, or "" for none');
  }
};

export const absolutePaths: Parse<readonly string[]> = (raw, context) => {
  if (!Array.isArray(raw)) throw new NotAllowed('a list of absolute paths');
  return raw.map((path) => absolutePath(path, context));
};

/** An absolute path; a relative one is resolved from the config file's directory, with a warning. */
export const storagePath: Parse<string> = (raw, context) => {
  if (typeof raw !== 'string' || raw === '' || raw.includes('\0')) throw new NotAllowed('an absolute path');
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(raw))
    throw new NotAllowed('an absolute path; databases and other URLs are not supported');
  const path = resolve(context.folder, raw);
  if (path === '/') throw new NotAllowed('an absolute path other than /');
  if (!isAbsolute(raw)) context.warn(`path "${raw}" is relative; ${path} is used`);
  return path;
};
