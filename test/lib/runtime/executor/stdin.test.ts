import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, expect, it } from 'vitest';
import { openFifo } from '../../../../lib/runtime/executor/fifo-pool.ts';
import { Stdin } from '../../../../lib/runtime/executor/stdin.ts';

const dir = mkdtempSync(join(tmpdir(), 'paddock-stdin-'));
afterAll(() => rmSync(dir, { recursive: true }));

it.each([
  [
    'a text of many pieces, with a character across two of them',
    `${'a'.repeat(65_535)}\u{1f600}${'é'.repeat(1_000_000)}`,
  ],
  ['an empty text', ''],
])('writes %s, then its end', async (_, text) => {
  const path = join(dir, randomUUID());
  execFileSync('mkfifo', [path]);
  const stdin = new Stdin(path, text);
  const read = buffer(new Socket({ fd: openFifo(path, 'read'), readable: true, writable: false }));
  stdin.start();
  expect((await read).toString() === text).toBe(true);
  stdin.close();
});
