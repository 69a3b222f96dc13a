import { once } from 'node:events';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { expect, it, vi } from 'vitest';
import { pacedPipe } from '../../../adapters/http/previews/paced-pipe.ts';
import { ReadPace } from '../../../lib/read-pace.ts';

/** A pace of one read a turn, whose turns the test starts. */
function manual() {
  const due: (() => void)[] = [];
  return { pace: new ReadPace(1, (next) => due.push(next)), turn: () => due.shift()?.() };
}

it('moves everything in order, also to a slow reader', async () => {
  const pieces = Array.from({ length: 50 }, (_, index) => Buffer.alloc(3000 + index, index));
  const to = new PassThrough({ highWaterMark: 1000 });
  pacedPipe(Readable.from(pieces), to, new ReadPace(10_000, (next) => void setImmediate(next)));
  expect((await buffer(to)).equals(Buffer.concat(pieces))).toBe(true);
});

it('lets one body move in each turn where several have all their bytes', async () => {
  const { pace, turn } = manual();
  const bodies = Array.from({ length: 3 }, () => ({ from: new PassThrough(), to: new PassThrough(), moved: 0 }));
  for (const body of bodies) {
    body.to.on('data', ({ length }: Buffer) => {
      body.moved += length;
    });
    pacedPipe(body.from, body.to, pace);
    for (let each = 0; each < 4; each++) body.from.write(Buffer.alloc(10));
  }
  const total = () => bodies.reduce((sum, { moved }) => sum + moved, 0);
  await vi.waitFor(() => expect(total()).toBe(30));
  for (let turns = 1; turns <= 9; turns++) {
    turn();
    await vi.waitFor(() => expect(total()).toBe(30 + 10 * turns));
  }
  expect(bodies.map(({ moved }) => moved)).toEqual([40, 40, 40]);
});

it('leaves the queue with the end of either side', async () => {
  const { pace, turn } = manual();
  const [gone, other] = [0, 1].map(() => ({ from: new PassThrough(), to: new PassThrough() }));
  for (const { from, to } of [gone!, other!]) {
    pacedPipe(from, to.resume(), pace);
    from.write('one');
    from.write('two');
  }
  await vi.waitFor(() => expect([gone!.from.isPaused(), other!.from.isPaused()]).toEqual([true, true]));
  await once(gone!.to.destroy(), 'close');
  turn();
  await vi.waitFor(() => expect(other!.from.readableLength).toBe(0));
  expect(gone!.from.readableLength).toBe(3);
});
