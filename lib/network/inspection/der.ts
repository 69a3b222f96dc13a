/**
 * Writes the DER of ASN.1 (ITU-T X.690), as far as certificates need it. Nothing reads DER here. Node has no function
 * that makes certificates; the libraries for it bring a parser, or eleven packages with a registry of classes, or no
 * elliptic curves.
 */

function tagged(tag: number, content: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([tag]), lengthOf(content.length), content]);
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest >>>= 8) bytes.unshift(rest & 0xff);
  return Buffer.from([0x80 | bytes.length, ...bytes]);
}

export function sequence(...items: Uint8Array[]): Buffer {
  return tagged(0x30, Buffer.concat(items));
}

export function setOf(item: Uint8Array): Buffer {
  return tagged(0x31, item);
}

/** A positive integer from its bytes. */
export function integer(bytes: Uint8Array): Buffer {
  let start = 0;
  while (start < bytes.length - 1 && bytes[start] === 0) start++;
  const shortest = bytes.subarray(start);
  return tagged(0x02, (shortest[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), shortest]) : shortest);
}

export function boolean(value: boolean): Buffer {
  return tagged(0x01, Buffer.from([value ? 0xff : 0]));
}

export function octets(content: Uint8Array): Buffer {
  return tagged(0x04, content);
}

/** `unused`: bits at the end of the last byte that do not count. */
export function bits(content: Uint8Array, unused = 0): Buffer {
  return tagged(0x03, Buffer.concat([Buffer.from([unused]), content]));
}

export function text(value: string): Buffer {
  return tagged(0x0c, Buffer.from(value, 'utf8'));
}

/** An element with a tag of its context. `constructed`: its content are elements. */
export function context(tag: number, content: Uint8Array, constructed: boolean): Buffer {
  return tagged((constructed ? 0xa0 : 0x80) | tag, content);
}

/** `1.2.840.10045.2.1` */
export function objectId(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return tagged(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

function base128(value: number): number[] {
  const bytes = [value & 0x7f];
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) bytes.unshift(0x80 | (rest & 0x7f));
  return bytes;
}

/** UTCTime until 2049, GeneralizedTime from 2050 on, as RFC 5280 wants it. */
export function time(date: Date): Buffer {
  const digits = date.toISOString().replace(/\.\d+/, '').replace(/[-:T]/g, '');
  if (date.getUTCFullYear() < 2050) return tagged(0x17, Buffer.from(digits.slice(2), 'latin1'));
  return tagged(0x18, Buffer.from(digits, 'latin1'));
}
