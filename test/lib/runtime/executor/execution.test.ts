import { describe, expect, it, vi } from 'vitest';
import { EventQueue } from '../../../../lib/runtime/executor/execution.ts';

const nothing = () => {};

describe('EventQueue', () => {
  it('delivers in order, then ends', async () => {
    const queue = new EventQueue(nothing, nothing);
    queue.write('STDOUT', Buffer.from('a'));
    queue.write('STDERR', Buffer.from('b'));
    queue.exit(3, 5);
    const events = [];
    for await (const event of queue) events.push(event);
    expect(events).toEqual([
      { kind: 'output', stream: 'STDOUT', data: Buffer.from('a') },
      { kind: 'output', stream: 'STDERR', data: Buffer.from('b') },
      { kind: 'exit', exitCode: 3, durationMs: 5 },
    ]);
  });

  it('copies: the producer may use its buffer again', async () => {
    const queue = new EventQueue(nothing, nothing);
    const buffer = Buffer.from('abc');
    queue.write('STDOUT', buffer);
    buffer.fill('x');
    expect((await queue.next()).value).toMatchObject({ data: Buffer.from('abc') });
  });

  it('says when it is full, and once when it no longer is', async () => {
    const drained = vi.fn();
    const queue = new EventQueue(drained, nothing);
    let writes = 0;
    while (queue.write('STDOUT', Buffer.alloc(65_536))) writes++;
    expect(writes).toBeLessThan(20);
    expect(drained).not.toHaveBeenCalled();
    for (let index = 0; index <= writes; index++) await queue.next();
    expect(drained).toHaveBeenCalledTimes(1);
  });

  it('counts single bytes so that they cannot fill the memory', () => {
    const queue = new EventQueue(nothing, nothing);
    let writes = 0;
    while (queue.write('STDOUT', Buffer.from('x'))) writes++;
    expect(writes).toBeLessThan(5000);
  });

  it('throws its failure after the output, once', async () => {
    const queue = new EventQueue(nothing, nothing);
    queue.write('STDOUT', Buffer.from('a'));
    queue.fail(new Error('late'));
    expect((await queue.next()).done).toBe(false);
    await expect(queue.next()).rejects.toThrow('late');
    expect(await queue.next()).toEqual({ done: true, value: undefined });
  });

  it('tells its producer of a consumer that leaves, only before the end', async () => {
    const left = vi.fn();
    const queue = new EventQueue(nothing, left);
    queue.write('STDOUT', Buffer.from('a'));
    for await (const _ of queue) break;
    expect(left).toHaveBeenCalledTimes(1);
    expect(queue.write('STDOUT', Buffer.alloc(10_000_000))).toBe(true);
    const ended = new EventQueue(nothing, left);
    ended.exit(0, 0);
    for await (const _ of ended) break;
    expect(left).toHaveBeenCalledTimes(1);
  });
});
