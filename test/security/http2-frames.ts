/** Encodes HTTP/2 frames (RFC 9113), so that a test can send frames that no library would send. */
export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
export const DATA = 0;
export const HEADERS = 1;
export const SETTINGS = 4;

export function frame(type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

export function goAway(last: number): Buffer {
  const payload = Buffer.alloc(8);
  payload.writeUInt32BE(last, 0);
  return frame(7, 0, 0, payload);
}

/** Returns a header block without compression and without the dynamic table (RFC 7541, 6.2.2). */
export function literalHeaders(fields: readonly (readonly [name: string, value: string])[]): Buffer {
  return Buffer.concat(fields.flatMap(([name, value]) => [Buffer.from([0]), literal(name), literal(value)]));
}

function literal(text: string): Buffer {
  const bytes = Buffer.from(text, 'latin1');
  if (bytes.length < 127) return Buffer.concat([Buffer.from([bytes.length]), bytes]);
  const length = [127];
  let rest = bytes.length - 127;
  for (; rest >= 128; rest = Math.floor(rest / 128)) length.push((rest % 128) + 128);
  length.push(rest);
  return Buffer.concat([Buffer.from(length), bytes]);
}
