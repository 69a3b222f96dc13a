/** Of RFC 1035, 6891 and 9460. */
export const TYPES = { A: 1, PTR: 12, OPT: 41 } as const;
export const RESPONSE_CODES = { NOERROR: 0, FORMERR: 1, SERVFAIL: 2, NXDOMAIN: 3, NOTIMP: 4, REFUSED: 5 } as const;
export type ResponseCode = (typeof RESPONSE_CODES)[keyof typeof RESPONSE_CODES];

export const HEADER_BYTES = 12;
const CLASS_IN = 1;
/** With the root's. */
const MAX_NAME_BYTES = 255;
const MAX_LABEL_BYTES = 63;
const RESPONSE = 0x80;
const OPCODE = 0x78;

export interface Query {
  /** Lower case, without the trailing dot. undefined: no name of a host, so that no rule can allow it. */
  name: string | undefined;
  type: number;
  /** Offset of the first byte after the question. */
  end: number;
  /** The sender understands EDNS (RFC 6891). */
  edns: boolean;
}

/** The question of a message, or the code that answers it. undefined: no answer, because an answer could cause a loop. */
export function parseQuery(message: Buffer): Query | ResponseCode | undefined {
  if (message.length < HEADER_BYTES || message[2]! & RESPONSE) return undefined;
  if (message[2]! & OPCODE) return RESPONSE_CODES.NOTIMP;
  if (message.readUInt16BE(4) !== 1 || message.readUInt16BE(6) !== 0) return RESPONSE_CODES.FORMERR;
  const found = readName(message, HEADER_BYTES);
  if (found === undefined || found.end + 4 > message.length) return RESPONSE_CODES.FORMERR;
  if (message.readUInt16BE(found.end + 2) !== CLASS_IN) return RESPONSE_CODES.REFUSED;
  const end = found.end + 4;
  return { name: found.name, type: message.readUInt16BE(found.end), end, edns: hasOpt(message, end) };
}

/** A question needs no compression: a pointer is an error, and there is no loop to follow. */
function readName(message: Buffer, start: number): { name: string | undefined; end: number } | undefined {
  const labels: string[] = [];
  let isHost = true;
  let at = start;
  for (;;) {
    const length = message[at];
    if (length === undefined || length > MAX_LABEL_BYTES) return undefined;
    at++;
    if (length === 0) break;
    if (at + length > message.length || at + length - start > MAX_NAME_BYTES - 1) return undefined;
    const label = message.toString('latin1', at, at + length);
    // A dot or a zero inside of a label would make it look like another name.
    if (!/^[A-Za-z0-9_-]+$/.test(label)) isHost = false;
    labels.push(label.toLowerCase());
    at += length;
  }
  return { name: isHost && labels.length > 0 ? labels.join('.') : undefined, end: at };
}

/** Whether the first additional record is one for EDNS. */
function hasOpt(message: Buffer, end: number): boolean {
  const additional = message.readUInt16BE(8) === 0 && message.readUInt16BE(10) > 0;
  return additional && end + 11 <= message.length && message[end] === 0 && message.readUInt16BE(end + 1) === TYPES.OPT;
}
