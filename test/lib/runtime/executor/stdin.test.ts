import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, describe, expect, it } from 'vitest';
import { openFifo } from '../../../../lib/runtime/executor/fifo-pool.ts';
import { Stdin } from '../../../../lib/runtime/executor/stdin.ts';

const dir = mkdtempSync(join(tmpdir(), 'paddock-stdin-'));
afterAll(() => rmSync(dir, { recursive: true }));

/** A pipe that nobody reads yet. */
function open(data?: string | Uint8Array): { stdin: Stdin; reader: Socket } {
  const path = join(dir, randomUUID());
  execFileSync('mkfifo', [path]);
  const stdin = new Stdin(path, data);
  return { stdin, reader: new Socket({ fd: openFifo(path, 'read'), readable: true, writable: false }) };
}

describe('complete standard input', () => {
  it.each([
    ['a text', `${'a'.repeat(65_535)}\u{1f600}${'é'.repeat(1_000_000)}`],
    ['bytes', Buffer.alloc(3_000_000, Buffer.from(Array.from({ length: 255 }, (_, at) => at)))],
    ['nothing', ''],
  ])('is written whole: %s, then its end', async (_, data) => {
    const { stdin, reader } = open(data);
    const read = buffer(reader);
    stdin.start();
    expect(Buffer.from(data).equals(await read)).toBe(true);
    stdin.close();
  });
});

describe('open standard input', () => {
  it('takes as much as the pipe has room for, keeps the order, and is closed after all data', async () => {
    const { stdin, reader } = open();
    stdin.start();
    const sent: number[] = [];
    const send = async () => {
      for (let at = 0; at < 100; at++) {
        sent.push(at);
        await stdin.write(Buffer.alloc(10_000, at));
      }
      stdin.end();
      stdin.end();
    };
    const sending = send();
    await expect.poll(() => sent.length, { timeout: 30_000 }).toBeGreaterThan(5);
    // The pipe's capacity is 64 KiB, and the reader's socket holds as much, and one read more.
    expect(sent.length).toBeLessThan(30);
    const received = await buffer(reader);
    await sending;
    expect(received.equals(Buffer.concat(sent.map((at) => Buffer.alloc(10_000, at))))).toBe(true);
    await expect(stdin.write(Buffer.from('x'))).rejects.toMatchObject({ code: 'FAILED_PRECONDITION' });
    stdin.close();
  });

  it('refuses the write that waits, and further ones, after the reader has closed its end', async () => {
    const { stdin, reader } = open();
    stdin.start();
    const waiting = stdin.write(Buffer.alloc(200_000));
    reader.destroy();
    await expect(waiting).rejects.toMatchObject({ code: 'FAILED_PRECONDITION' });
    await expect(stdin.write(Buffer.alloc(1))).rejects.toMatchObject({ code: 'FAILED_PRECONDITION' });
    stdin.end();
    stdin.close();
  });

  it('refuses the writes that wait, and further ones, after `close`', async () => {
    const { stdin, reader } = open();
    stdin.start();
    const waiting = [stdin.write(Buffer.alloc(200_000)), stdin.write(Buffer.alloc(10))];
    stdin.close();
    const refused = { status: 'rejected', reason: { code: 'FAILED_PRECONDITION' } };
    const settled = await Promise.allSettled([...waiting, stdin.write(Buffer.alloc(1))]);
    expect(settled).toMatchObject([refused, refused, refused]);
    reader.destroy();
  });
});
