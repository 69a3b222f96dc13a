import { HEADER_BYTES, type Query, RESPONSE_CODES, type ResponseCode, TYPES } from './query.ts';

/** Seconds. Short: an address is given to another name when it was not used for long. */
const TTL = 30;
/** The maximum of a UDP message that we take, in the OPT record. */
const UDP_BYTES = 1232;
const RECURSION_DESIRED = 0x01;
const RESPONSE = 0x80;
const RECURSION_AVAILABLE = 0x80;

/** The answer to a message whose question could not be read: its header alone. */
export function replyToGarbage(message: Buffer, code: ResponseCode): Buffer {
  const reply = Buffer.alloc(HEADER_BYTES);
  writeHeader(reply, message, code);
  return reply;
}

/** The answer without a record. */
export function replyWithout(message: Buffer, query: Query, code: ResponseCode): Buffer {
  return build(message, query, code, undefined);
}

/** The answer with one address. */
export function replyAddress(message: Buffer, query: Query, address: string): Buffer {
  return build(message, query, RESPONSE_CODES.NOERROR, Buffer.from(address.split('.').map(Number)));
}

/** The answer with the name of an address. */
export function replyName(message: Buffer, query: Query, name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.concat([Buffer.of(label.length), Buffer.from(label, 'latin1')]));
  return build(message, query, RESPONSE_CODES.NOERROR, Buffer.concat([...labels, Buffer.of(0)]));
}

/** The question is repeated byte by byte: clients compare the case of its letters. */
function build(message: Buffer, query: Query, code: ResponseCode, data: Buffer | undefined): Buffer {
  const parts = [message.subarray(0, query.end)];
  if (data) parts.push(record(query.type, data));
  if (query.edns) parts.push(OPT);
  const reply = Buffer.concat(parts);
  writeHeader(reply, message, code);
  reply.writeUInt16BE(1, 4);
  reply.writeUInt16BE(data ? 1 : 0, 6);
  reply.writeUInt16BE(query.edns ? 1 : 0, 10);
  return reply;
}

function writeHeader(reply: Buffer, message: Buffer, code: ResponseCode): void {
  message.copy(reply, 0, 0, 2);
  reply[2] = RESPONSE | (message[2]! & RECURSION_DESIRED);
  reply[3] = RECURSION_AVAILABLE | code;
  reply.fill(0, 4, HEADER_BYTES);
}

function record(type: number, data: Buffer): Buffer {
  const head = Buffer.alloc(12);
  // The name of the question.
  head.writeUInt16BE(0xc000 | HEADER_BYTES, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt32BE(TTL, 6);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

const OPT = Buffer.alloc(11);
OPT.writeUInt16BE(TYPES.OPT, 1);
OPT.writeUInt16BE(UDP_BYTES, 3);
