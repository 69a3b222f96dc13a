import { cpSync, mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import * as fs from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { LogBudget } from '../../../lib/output-log/budget.ts';
import { OutputLog } from '../../../lib/output-log/output-log.ts';
import type { LogFileSystem } from '../../../lib/output-log/segment.ts';
import { bytes, logDirectories, readText } from './log-directory.ts';

const directory = logDirectories();
const options = () => ({ maxBytes: 64 * 1024, budget: new LogBudget(1 << 20) });

it('there is no log without its directory', async () => {
  expect(await OutputLog.recover(directory(), options())).toBeUndefined();
});

it('a log that its server did not end is read after its death, and takes no more output', async () => {
  const at = directory();
  const log = await OutputLog.create(at, options());
  void log.append('stdout', bytes('output'));
  await expect.poll(() => readdirSync(at).length).toBe(1);
  await expect.poll(() => readFileSync(join(at, readdirSync(at)[0]!)).length).toBeGreaterThan(6);
  const budget = new LogBudget(1 << 20);
  const recovered = (await OutputLog.recover(at, { maxBytes: 65_536, budget }))!;
  expect(recovered.ended).toBe(true);
  expect(recovered.append('stdout', bytes('more'))).toBeUndefined();
  expect(await readText(recovered)).toEqual(['stdout:output']);
  expect(budget.kept).toBeGreaterThan(6);
  await recovered.remove();
  expect(budget.kept).toBe(0);
  await log.close();
});

it('a last segment that was cut anywhere ends with its last whole record', async () => {
  const at = directory();
  const log = await OutputLog.create(at, options());
  // Records up to the end of a block, in several writes, and a few small ones in the next.
  const parts = ['a'.repeat(1500), 'b'.repeat(2570), 'c', 'd'.repeat(9), 'e'.repeat(20)];
  for (const [index, part] of parts.entries()) void log.append(index % 2 ? 'stderr' : 'stdout', bytes(part));
  await log.close();
  const [name] = readdirSync(at);
  const whole = readFileSync(join(at, name!));
  const text = parts.join('');
  let shorter = 0;
  const cut = directory();
  mkdirSync(cut);
  for (let size = whole.length; size >= 0; size--) {
    // Within a long record, not each length needs a test.
    const inRecord = (size > 20 && size < 1500) || (size > 1530 && size < 4060);
    if (inRecord && size % 97 !== 0) continue;
    writeFileSync(join(cut, name!), whole.subarray(0, size));
    const recovered = (await OutputLog.recover(cut, options()))!;
    const { gap, pieces, next } = await recovered.read(0, 65_536);
    const read = Buffer.concat(pieces.map(({ data }) => data)).toString('latin1');
    const kept = recovered.position.next;
    if (kept < text.length) shorter++;
    if (gap !== 0 || next !== kept || read !== text.slice(0, kept)) expect.fail(`wrong after ${size} bytes`);
    // The ends of records; one is divided by the end of a block.
    if (![0, 1500, 4070, 4071, 4074, 4080, 4100].includes(kept))
      expect.fail(`${kept} bytes of output after ${size} bytes`);
  }
  expect(shorter).toBeGreaterThan(100);
});

it('a segment that was cut or damaged is a gap, and what follows is read', async () => {
  const at = directory();
  const log = await OutputLog.create(at, options());
  const line = `${'x'.repeat(99)}\n`;
  for (let index = 0; index < 300; index++) await log.append('stdout', bytes(line));
  await log.close();
  const names = readdirSync(at).sort();
  expect(names.length).toBeGreaterThan(3);
  const [second, third] = [startOf(names[1]!), startOf(names[2]!)];
  for (const damage of ['cut', 'empty', 'zeros'] as const) {
    const copy = directory();
    cpSync(at, copy, { recursive: true });
    const recovered = (await OutputLog.recover(copy, options()))!;
    const file = join(copy, names[1]!);
    if (damage === 'cut') truncateSync(file, 4096);
    if (damage === 'empty') truncateSync(file, 0);
    if (damage === 'zeros') writeFileSync(file, Buffer.alloc(8192));
    const before = damage === 'cut' ? 4083 : 0;
    const texts = await readText(recovered);
    expect(texts).toEqual([
      expect.stringMatching(/^stdout:/),
      `gap:${third - second - before}`,
      expect.stringMatching(/^stdout:/),
    ]);
    expect(texts[0]).toHaveLength('stdout:'.length + second + before);
  }
});

it('the numbers survive a server whose log had lost all output', async () => {
  const at = directory();
  const budget = new LogBudget(1 << 20);
  const log = await OutputLog.create(at, { maxBytes: 65_536, budget });
  void log.append('stdout', bytes('x'.repeat(1000)));
  await log.close();
  await budget.turn(() => budget.makeRoom(budget.maxBytes));
  expect(budget.kept).toBe(0);
  const recovered = (await OutputLog.recover(at, options()))!;
  expect(recovered.position).toEqual({ first: 1000, next: 1000 });
  expect(await recovered.read(0, 10)).toEqual({ gap: 1000, pieces: [], next: 1000 });
});

const startOf = (name: string) => Number.parseInt(name, 10);

it('a log whose server is killed within any change of a file that is used again has all output before, and no older', async () => {
  const at = directory();
  const copies: { at: string; appended: number }[] = [];
  let written = 0;
  const copied = async <T>(change: () => Promise<T>): Promise<T> => {
    const changed = await change();
    const copy = directory();
    cpSync(at, copy, { recursive: true });
    copies.push({ at: copy, appended: written });
    return changed;
  };
  let created = 0;
  const fileSystem: LogFileSystem = {
    ...fs,
    rename: (from, to) => copied(() => fs.rename(from, to)),
    open: async (path, flags, mode) => {
      if (flags === 'w') created++;
      const handle = await fs.open(path, flags, mode);
      const write = handle.write.bind(handle);
      handle.write = ((...all: Parameters<typeof write>) => copied(() => write(...all))) as typeof handle.write;
      return handle;
    },
  };
  const log = await OutputLog.create(at, { maxBytes: 32_768, budget: new LogBudget(1 << 20), fileSystem, delayMs: 0 });
  // Bytes that could also be the streams of records.
  const value = (offset: number) => 1 + (Math.floor(offset / 5000) % 2);
  for (let turn = 0; turn < 60; turn++) {
    const piece = Buffer.from(Array.from({ length: 1 + ((turn * 1013) % 5000) }, (_, index) => value(written + index)));
    written += piece.length;
    void log.append(turn % 3 === 0 ? 'stderr' : 'stdout', piece);
    const expected = copies.length + 1;
    await expect.poll(() => copies.length, { interval: 1 }).toBeGreaterThanOrEqual(expected);
  }
  await log.close();
  expect(written).toBeGreaterThan(100_000);
  expect(created).toBeLessThanOrEqual(5);
  let before = 0;
  for (const { at: copy, appended } of copies) {
    const recovered = (await OutputLog.recover(copy, options()))!;
    const { first, next } = recovered.position;
    expect(next).toBeGreaterThanOrEqual(before);
    expect(next).toBeLessThanOrEqual(appended);
    before = next;
    const { gap, pieces, next: read } = await recovered.read(first, 65_536);
    const data = Buffer.concat(pieces.map((piece) => piece.data));
    expect({ gap, read }).toEqual({ gap: 0, read: next });
    expect(data.findIndex((byte, index) => byte !== value(first + index))).toBe(-1);
  }
  expect(before).toBe(written);
});
