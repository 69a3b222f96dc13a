import { expect, it } from 'vitest';
import { claim, unclaimedBuffer } from '../../../../lib/recycled-buffers.ts';
import { sendInPieces } from '../../../../lib/sandboxes/files/pieces.ts';

const SIZE = 1 << 17;

async function* chunks(...lengths: number[]): AsyncGenerator<Uint8Array> {
  let byte = 0;
  for (const length of lengths) yield new Uint8Array(length).map(() => byte++ % 251);
}

async function sent(...lengths: number[]): Promise<Buffer[]> {
  const pieces: Buffer[] = [];
  await sendInPieces(chunks(...lengths), SIZE, async (piece) => void pieces.push(Buffer.from(piece)));
  return pieces;
}

it('bytes arrive in order, in pieces of the size, the last one shorter', async () => {
  for (const lengths of [[], [0], [3, 0, 4], [SIZE], [SIZE / 2, SIZE / 2, 1], [70_000, 3 * SIZE, 5]]) {
    const pieces = await sent(...lengths);
    const total = lengths.reduce((sum, length) => sum + length, 0);
    const whole = Buffer.from(Array.from({ length: total }, (_, at) => at % 251));
    expect(Buffer.concat(pieces).equals(whole)).toBe(true);
    expect(pieces.slice(0, -1).every((piece) => piece.length === SIZE)).toBe(true);
    expect(pieces).toHaveLength(Math.ceil(total / SIZE));
  }
});

it('one piece is sent while the next is filled, and never changed meanwhile', async () => {
  let sending = 0;
  const seen: boolean[] = [];
  await sendInPieces(chunks(5 * SIZE + 1), SIZE, async (piece) => {
    expect(++sending).toBe(1);
    const before = Buffer.from(piece);
    await new Promise((resolve) => setImmediate(resolve));
    seen.push(before.equals(piece));
    sending--;
  });
  expect(seen).toEqual(Array(6).fill(true));
});

it('an error of either side ends it, when nothing is being sent any more', async () => {
  let pending = 0;
  const slow = async () => {
    pending++;
    await new Promise((resolve) => setImmediate(resolve));
    pending--;
  };
  const cut = async function* () {
    yield* chunks(2 * SIZE);
    throw new Error('cut');
  };
  await expect(sendInPieces(cut(), SIZE, slow)).rejects.toThrow('cut');
  expect(pending).toBe(0);
  const full = async () => Promise.reject(new Error('full'));
  await expect(sendInPieces(chunks(9), SIZE, full)).rejects.toThrow('full');
  await expect(sendInPieces(chunks(9 * SIZE), SIZE, full)).rejects.toThrow('full');
});

it('chunks in recycled memory are overwritten only once their bytes are in a piece', async () => {
  const memory = new Set<ArrayBufferLike>();
  const recycled = async function* () {
    for (const [value, size] of [
      [1, 9],
      [2, 100_000],
      [3, SIZE],
      [4, 100_000],
      [5, 100_000],
    ] as const) {
      const chunk = unclaimedBuffer(Math.max(size, 100_000)).subarray(0, size).fill(value);
      claim(chunk);
      memory.add(chunk.buffer);
      yield chunk;
    }
  };
  const pieces: Buffer[] = [];
  await sendInPieces(recycled(), SIZE, async (piece) => void pieces.push(Buffer.from(piece)));
  const whole = [9, 100_000, SIZE, 100_000, 100_000].map((size, index) => Buffer.alloc(size, index + 1));
  expect(Buffer.concat(pieces).equals(Buffer.concat(whole))).toBe(true);
  expect(memory.size).toBeLessThan(5);
});
