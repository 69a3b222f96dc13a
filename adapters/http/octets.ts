import type { ServerResponse } from 'node:http';
import { giveBack } from '../../lib/recycled-buffers.ts';

/** Two lengths, 4 bytes each with the highest first: of the JSON, and of the octets. */
const LENGTHS = 8;

/**
 * Writes a message whose field `data` is sent as it is, after the other fields as JSON. Returns false if the client should be
 * waited for. The bytes belong to this function; they may be used again when they are sent.
 */
export function writeOctets(res: ServerResponse, json: string, data: Uint8Array): boolean {
  const length = Buffer.byteLength(json);
  const head = Buffer.allocUnsafe(LENGTHS + length);
  head.writeUInt32BE(length, 0);
  head.writeUInt32BE(data.byteLength, 4);
  head.write(json, LENGTHS);
  if (data.byteLength === 0) return res.write(head);
  // Not corked: after that, later releases of Node tell nothing when the client has read.
  res.write(head);
  return res.write(data, () => giveBack(data));
}
