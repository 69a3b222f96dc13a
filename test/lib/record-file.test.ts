import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readRecord, writeRecord } from '../../lib/record-file.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'paddock-record-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

it('a record is replaced as a whole, and readable by the server only', async () => {
  expect(await readRecord(directory)).toBeUndefined();
  await writeRecord(directory, { state: 'running', labels: { a: 'ü' } });
  await writeRecord(directory, { state: 'ended' });
  expect(await readRecord(directory)).toEqual({ state: 'ended' });
  expect(readdirSync(directory)).toEqual(['record.json']);
  expect(statSync(join(directory, 'record.json')).mode & 0o777).toBe(0o600);
});

it('what the death of a server left of a new record changes nothing, and the next write replaces it', async () => {
  await writeRecord(directory, { state: 'running' });
  writeFileSync(join(directory, 'record.json.tmp'), '{"state":"end');
  expect(await readRecord(directory)).toEqual({ state: 'running' });
  await writeRecord(directory, { state: 'ended' });
  expect(await readRecord(directory)).toEqual({ state: 'ended' });
});

it.each(['', '{"a":1', '[]', 'null', '"text"', '\0\0\0', `{"a":"${'x'.repeat(65_536)}"}`])(
  'a damaged record is none: %.20s',
  async (content) => {
    writeFileSync(join(directory, 'record.json'), content);
    expect(await readRecord(directory)).toBeUndefined();
  },
);

it('a record of more than 64 KiB is refused, and the one before stays', async () => {
  await writeRecord(directory, { a: 'x'.repeat(65_536 - 8) });
  await expect(writeRecord(directory, { a: 'x'.repeat(65_536 - 7) })).rejects.toThrow(
    'a record of 65537 bytes is larger than 65536',
  );
  expect(await readRecord(directory)).toEqual({ a: 'x'.repeat(65_536 - 8) });
});
