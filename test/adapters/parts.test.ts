import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { Parts } from '../../adapters/http/parts.ts';

const field = (n: number) => `--x\r\ncontent-disposition: form-data; name="f${n}"\r\n\r\n${n}\r\n`;

/** A form of fields, in chunks of 40. */
function form(chunks: number) {
  const timeouts: number[] = [];
  let sent = 0;
  const body = (function* () {
    for (; sent < chunks; sent++)
      yield Buffer.from(Array.from({ length: 40 }, (_, n) => field(40 * sent + n)).join(''));
    yield Buffer.from('--x--\r\n');
  })();
  const stream = Readable.from(body, { highWaterMark: 1 });
  const req = Object.assign(stream, {
    headers: { 'content-type': 'multipart/form-data; boundary=x' },
    setTimeout: (ms: number) => timeouts.push(ms),
  });
  return { req: req as unknown as IncomingMessage, timeouts, sent: () => sent };
}

/** Lets streams go on until they wait. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve));
}

it('no more of a form is read than can be consumed, and no part is lost', async () => {
  const { req, sent } = form(50);
  const parts = new Parts(req);
  await settle();
  expect(sent()).toBeLessThan(6);
  for (let n = 0; n < 2000; n++) expect(await parts.next()).toMatchObject({ kind: 'field', name: `f${n}` });
  expect(await parts.next()).toEqual({ kind: 'end' });
});

it('a form may take any time to be stored once it is received', async () => {
  const { req, timeouts } = form(1);
  new Parts(req);
  expect(timeouts).toEqual([60_000]);
  await settle();
  expect(timeouts).toEqual([60_000, 0]);
});
