import { expect, it } from 'vitest';
import { readArchive } from '../../../lib/archive/read-archive.ts';
import { type Member, tar } from '../../../lib/archive/tar.ts';
import { Unzstd } from '../../../lib/archive/unzstd.ts';
import { fromText } from '../../../lib/byte-string.ts';
import { inSameThread } from '../../../lib/threads/same-thread.ts';

const SIZE = 1024;
const COUNT = 1024;
const PIECE = 64 * 1024;

async function collected(pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array[]> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece);
  return all;
}

/** Returns how many steps were made at most in one turn of the event loop. */
async function mostInOneTurn(run: (step: () => void) => Promise<void>): Promise<number> {
  let [inTurn, most, running] = [0, 0, true];
  const turn = () => {
    inTurn = 0;
    if (running) setImmediate(turn);
  };
  setImmediate(turn);
  await run(() => {
    most = Math.max(most, ++inTurn);
  });
  running = false;
  return most;
}

async function* members(): AsyncGenerator<Member> {
  for (let n = 0; n < COUNT; n++) {
    yield {
      path: fromText(`f${n}`),
      type: 'file',
      mode: 0o644,
      mtime: 1,
      size: SIZE,
      content: () => [Buffer.alloc(SIZE)],
    };
  }
}

async function* arrived(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

it('an archive is written in pieces, with other events between them', async () => {
  let bytes = 0;
  const most = await mostInOneTurn(async (step) => {
    for await (const piece of tar(members())) {
      step();
      bytes += piece.length;
      expect(piece.length).toBeLessThan(PIECE + 2 * SIZE);
    }
  });
  expect(bytes).toBe(COUNT * (512 + SIZE) + 1024);
  expect(most).toBeLessThanOrEqual(2);
});

it('an archive that has arrived already is read in pieces, with other events between them', async () => {
  const bytes = Buffer.concat(await collected(tar(members())));
  let read = 0;
  const most = await mostInOneTurn((step) =>
    readArchive(
      arrived(bytes),
      inSameThread(() => new Unzstd()),
      async (piece) => {
        step();
        read += piece.length;
        return false;
      },
    ),
  );
  expect(read).toBe(bytes.length);
  expect(most).toBeLessThanOrEqual(2);
});
