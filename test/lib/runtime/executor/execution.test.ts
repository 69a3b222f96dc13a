import { describe, expect, it, vi } from 'vitest';
import { giveBack, largeBuffer } from '../../../../lib/recycled-buffers.ts';
import { EventQueue } from '../../../../lib/runtime/executor/execution.ts';

const nothing = () => {};

describe('EventQueue', () => {
  it('delivers events in order, then ends', async () => {
    const queue = new EventQueue(nothing, nothing);
    queue.write('STDOUT', Buffer.from('a'));
    queue.write('STDERR', Buffer.from('b'));
    queue.exit(3, 5, false);
    const events = [];
    for await (const event of queue) events.push(event);
    expect(events).toEqual([
      { kind: 'output', stream: 'STDOUT', data: Buffer.from('a') },
      { kind: 'output', stream: 'STDERR', data: Buffer.from('b') },
      { kind: 'exit', exitCode: 3, durationMs: 5, outOfMemory: false },
    ]);
  });

  it('copies data, so that the producer may reuse its buffer', async () => {
    const queue = new EventQueue(nothing, nothing);
    const buffer = Buffer.from('abc');
    queue.write('STDOUT', buffer);
    buffer.fill('x');
    expect((await queue.next()).value).toMatchObject({ data: Buffer.from('abc') });
  });

  it('reports when it is full, and once when it no longer is', async () => {
    const drained = vi.fn();
    const queue = new EventQueue(drained, nothing);
    let writes = 0;
    while (queue.write('STDOUT', Buffer.alloc(65_536))) writes++;
    expect(writes).toBeLessThan(20);
    expect(drained).not.toHaveBeenCalled();
    for (let index = 0; index <= writes; index++) await queue.next();
    expect(drained).toHaveBeenCalledTimes(1);
  });

  it('passes the data of a large read on whole, in memory that is used again', async () => {
    const queue = new EventQueue(nothing, nothing);
    const memory = new Set<ArrayBufferLike>();
    for (let value = 0; value < 20; value++) {
      const whole = Buffer.alloc(100_000 + 1500 * value, value);
      queue.write('STDOUT', whole);
      const { data } = (await queue.next()).value as { data: Buffer };
      expect(data.equals(whole)).toBe(true);
      memory.add(data.buffer);
      giveBack(data);
    }
    expect(memory.size).toBe(1);
  });

  it('passes on the piece of a large read itself, which its reader gives back', async () => {
    const queue = new EventQueue(nothing, nothing);
    const piece = largeBuffer(200_000).fill('a');
    queue.write('STDOUT', piece.subarray(0, 150_000), piece);
    giveBack(piece);
    queue.write('STDOUT', Buffer.from('b'));
    expect(largeBuffer(200_000).buffer).not.toBe(piece.buffer);
    const { data } = (await queue.next()).value as { data: Buffer };
    expect(data.buffer).toBe(piece.buffer);
    expect(data.toString()).toBe(`${'a'.repeat(150_000)}b`);
    giveBack(data);
    expect(largeBuffer(200_000).buffer).toBe(piece.buffer);
  });

  it('limits the memory of single-byte events', () => {
    const queue = new EventQueue(nothing, nothing);
    let writes = 0;
    while (queue.write(writes % 2 === 0 ? 'STDOUT' : 'STDERR', Buffer.from('x'))) writes++;
    expect(writes).toBeLessThan(5000);
  });

  it('combines the output of one stream while the consumer is busy, in order and within a limit', async () => {
    const queue = new EventQueue(nothing, nothing);
    let written = '';
    for (let line = 0; queue.write('STDOUT', Buffer.from(`${line}\n`)); line++) written += `${line}\n`;
    written += `${written.split('\n').length - 1}\n`;
    queue.write('STDERR', Buffer.from('other'));
    queue.exit(0, 0, false);
    const pieces: Buffer[] = [];
    for await (const event of queue) if (event.kind === 'output' && event.stream === 'STDOUT') pieces.push(event.data);
    expect(Buffer.concat(pieces).toString() === written).toBe(true);
    expect(written.length).toBeLessThan(1_200_000);
    expect(pieces.length).toBeLessThan(40);
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(65_536);
  });

  it('never changes delivered data', async () => {
    const queue = new EventQueue(nothing, nothing);
    for (const text of ['a', 'b', 'c']) queue.write('STDOUT', Buffer.from(text));
    const first = (await queue.next()).value;
    const second = (await queue.next()).value;
    queue.write('STDOUT', Buffer.from('d'));
    expect([first, second]).toMatchObject([{ data: Buffer.from('a') }, { data: Buffer.from('bc') }]);
  });

  it('throws its failure after the output, once', async () => {
    const queue = new EventQueue(nothing, nothing);
    queue.write('STDOUT', Buffer.from('a'));
    queue.fail(new Error('late'));
    expect((await queue.next()).done).toBe(false);
    await expect(queue.next()).rejects.toThrow('late');
    expect(await queue.next()).toEqual({ done: true, value: undefined });
  });

  it('notifies its producer of a consumer that leaves before the end', async () => {
    const left = vi.fn();
    const queue = new EventQueue(nothing, left);
    queue.write('STDOUT', Buffer.from('a'));
    for await (const _ of queue) break;
    expect(left).toHaveBeenCalledTimes(1);
    expect(queue.write('STDOUT', Buffer.alloc(10_000_000))).toBe(true);
    const ended = new EventQueue(nothing, left);
    ended.exit(0, 0, false);
    for await (const _ of ended) break;
    expect(left).toHaveBeenCalledTimes(1);
  });
});
