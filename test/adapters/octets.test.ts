import type { ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import { expect, it } from 'vitest';
import { writeOctets } from '../../adapters/http/octets.ts';
import { RECYCLED_BYTES, recycledBuffer } from '../../lib/recycled-buffers.ts';

const JSON_TEXT = '{"stream":"STDOUT é"}';

/** Chunks of the body, which are sent when `send` is called. */
function response() {
  const chunks: Buffer[] = [];
  const sent: (() => void)[] = [];
  const res = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk);
      sent.push(done);
    },
  });
  return { res: res as unknown as ServerResponse, chunks, send: () => sent.shift()?.() };
}

function frame(data: Buffer): Buffer {
  const json = Buffer.from(JSON_TEXT);
  const lengths = Buffer.alloc(8);
  lengths.writeUInt32BE(json.length, 0);
  lengths.writeUInt32BE(data.length, 4);
  return Buffer.concat([lengths, json, data]);
}

it('octets follow the rest of their message as they are, and their buffer is used again once they are sent', () => {
  const { res, chunks, send } = response();
  const data = recycledBuffer().fill(7);
  writeOctets(res, JSON_TEXT, data);
  send();
  expect(Buffer.concat(chunks).equals(frame(Buffer.alloc(RECYCLED_BYTES, 7)))).toBe(true);
  expect(recycledBuffer().buffer).not.toBe(data.buffer);
  send();
  expect(recycledBuffer().buffer).toBe(data.buffer);
});
