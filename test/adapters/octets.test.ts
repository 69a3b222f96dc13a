import type { ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import { expect, it } from 'vitest';
import { writeOctets } from '../../adapters/http/octets.ts';
import { giveBack, RECYCLED_BYTES, recycledBuffer, sharedView } from '../../lib/recycled-buffers.ts';

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

it('a frame is one chunk if its octets have room for the rest, and their buffer is used again once it is sent', () => {
  const { res, chunks, send } = response();
  const data = recycledBuffer().fill(7);
  writeOctets(res, JSON_TEXT, data);
  expect(chunks).toHaveLength(1);
  expect(chunks[0]!.equals(frame(Buffer.alloc(RECYCLED_BYTES, 7)))).toBe(true);
  expect(recycledBuffer().buffer).not.toBe(data.buffer);
  send();
  expect(recycledBuffer().buffer).toBe(data.buffer);
});

it('octets of which others have a part stay as they are, and follow in a second chunk', () => {
  const { res, chunks, send } = response();
  const buffer = recycledBuffer().fill(7);
  const data = sharedView(buffer, 1000, 2000);
  writeOctets(res, JSON_TEXT, data);
  send();
  send();
  expect(Buffer.concat(chunks).equals(frame(Buffer.alloc(1000, 7)))).toBe(true);
  expect(buffer.equals(Buffer.alloc(RECYCLED_BYTES, 7))).toBe(true);
  giveBack(buffer);
});
