import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import type { LogStream, OutputLog } from '../../../lib/output-log/output-log.ts';

/** Returns names of directories that do not exist; what is made there is removed after the file's tests. */
export function logDirectories(): () => string {
  const root = mkdtempSync(join(tmpdir(), 'paddock-log-'));
  let count = 0;
  afterAll(() => rmSync(root, { recursive: true, force: true }));
  return () => join(root, String(count++));
}

/** All output from `offset` on, as `stdout:text`, with `gap:N` where something is missing. */
export async function readText(log: OutputLog, offset = 0, maxBytes = 1 << 20): Promise<string[]> {
  const texts: string[] = [];
  let last: LogStream | undefined;
  for (let at = offset; at < log.position.next; ) {
    const { gap, pieces, next } = await log.read(at, maxBytes);
    if (gap > 0) texts.push(`gap:${gap}`);
    if (gap > 0) last = undefined;
    for (const { stream, data } of pieces) {
      if (stream === last) texts[texts.length - 1] += data.toString('latin1');
      else texts.push(`${stream}:${data.toString('latin1')}`);
      last = stream;
    }
    at = next;
  }
  return texts;
}

export const bytes = (text: string) => Buffer.from(text, 'latin1');
