import { expect, it } from 'vitest';
import { OutputWindow } from '../../../adapters/mcp/tools/output-window.ts';

const shownOf = (text: string, piece: number) => {
  const window = new OutputWindow();
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += piece) window.append(bytes.subarray(at, at + piece));
  return window.shown;
};

it.each([1, 7, 9999, 10_000, 100_000])('shows all of 20,000 bytes in pieces of %d', (piece) => {
  const text = 'ä'.repeat(10_000);
  expect(shownOf(text, piece)).toEqual({ before: text, after: '', omitted: 0, from: 20_000 });
});

it.each([1, 13, 10_001, 100_000])('cuts between characters, in pieces of %d', (piece) => {
  const text = `x${'€'.repeat(10_000)}`;
  const { before, after, omitted, from } = shownOf(text, piece);
  expect([before.includes('\ufffd'), after.includes('\ufffd')]).toEqual([false, false]);
  expect(Buffer.byteLength(before)).toBe(from);
  expect(from + omitted + Buffer.byteLength(after)).toBe(30_001);
  expect(Buffer.from(text).subarray(0, from).toString()).toBe(before);
});
