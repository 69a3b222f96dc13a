import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { BufferedWriter } from '../../../clients/cli/src/exec/buffered-writer.ts';
import { coalesced } from '../../../clients/cli/src/exec/coalesced.ts';
import { OutputBuffer } from '../../../clients/cli/src/exec/output-buffer.ts';

/** Bytes whose order shows: 0, 1, 2, … */
function counted(from: number, length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, index) => (from + index) & 0xff);
}

function taken(buffer: OutputBuffer): number[] {
  const all: number[] = [];
  for (let piece = buffer.take(); piece !== undefined; piece = buffer.take()) all.push(...piece);
  return all;
}

describe('OutputBuffer', () => {
  it('keeps the order, in memory and in its file, through several fillings', () => {
    const buffer = new OutputBuffer({ memory: 10, limit: 1000 });
    for (let round = 0; round < 3; round++) {
      let at = 0;
      for (const length of [4, 6, 5, 1, 7, 300]) {
        expect(buffer.add(counted(at, length))).toBe(true);
        at += length;
      }
      // While the file has bytes, new ones do not overtake them.
      expect([...buffer.take()!, ...buffer.take()!]).toEqual([...counted(0, 10)]);
      expect(buffer.add(counted(at, 2))).toBe(true);
      expect(taken(buffer)).toEqual([...counted(10, at - 8)]);
      expect(buffer.isEmpty).toBe(true);
    }
    buffer.close();
  });

  it('takes no more than its limit, and again once it is read', () => {
    const buffer = new OutputBuffer({ memory: 4, limit: 8 });
    expect(buffer.add(counted(0, 4))).toBe(true);
    expect(buffer.add(counted(4, 8))).toBe(true);
    expect(buffer.add(counted(12, 1))).toBe(false);
    expect(taken(buffer)).toEqual([...counted(0, 12)]);
    expect(buffer.add(counted(12, 1))).toBe(true);
    buffer.close();
  });
});

describe('BufferedWriter', () => {
  it('waits for its reader only when the buffer is full, and ends once all is written', async () => {
    const written: number[] = [];
    const waiting: (() => void)[] = [];
    const stream = {
      write(data: Uint8Array, done: () => void) {
        written.push(...data);
        waiting.push(done);
      },
    };
    const sink = new BufferedWriter(stream, new OutputBuffer({ memory: 4, limit: 4 }));
    for (let at = 0; at < 12; at += 4) await sink.write(counted(at, 4));
    let fourth = false;
    const writing = sink.write(counted(12, 4)).then(() => {
      fourth = true;
    });
    await turn();
    expect([written.length, fourth]).toEqual([4, false]);
    const ended = writing.then(() => sink.end());
    for (let round = 0; round < 20; round++) {
      waiting.shift()?.();
      await turn();
    }
    await ended;
    expect([fourth, written]).toEqual([true, [...counted(0, 16)]]);
  });

  it('drops everything once its reader has left', async () => {
    const stream = { write: (_: Uint8Array, done: (error: Error) => void) => done(new Error('EPIPE')) };
    const sink = new BufferedWriter(stream, new OutputBuffer({ memory: 1, limit: 1 }));
    for (let at = 0; at < 100; at++) await sink.write(counted(at, 1));
    await sink.end();
  });
});

describe('coalesced', () => {
  it('joins what comes while the consumer is busy, and loses nothing', async () => {
    async function* source(): AsyncGenerator<Uint8Array> {
      for (let at = 0; at < 100; at++) yield counted(at, 1);
    }
    const pieces: number[][] = [];
    for await (const piece of coalesced(source())) {
      pieces.push([...piece]);
      if (pieces.length === 2) for (let round = 0; round < 10; round++) await turn();
    }
    expect(pieces.flat()).toEqual([...counted(0, 100)]);
    expect(pieces.length).toBeLessThan(100);
  });

  it('reads no further than it may hold, and passes on errors after what came before', async () => {
    let read = 0;
    async function* source(): AsyncGenerator<Uint8Array> {
      for (; read < 10; read++) yield new Uint8Array(1024 * 1024);
      throw new Error('broken');
    }
    let bytes = 0;
    const all = async () => {
      for await (const piece of coalesced(source())) {
        bytes += piece.length;
        for (let round = 0; round < 10; round++) await turn();
        expect(read * 1024 * 1024 - bytes).toBeLessThanOrEqual(4 * 1024 * 1024);
      }
    };
    await expect(all()).rejects.toThrow('broken');
    expect(bytes).toBe(10 * 1024 * 1024);
  });
});
