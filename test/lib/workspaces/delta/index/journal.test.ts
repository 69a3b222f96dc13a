import {
  appendFileSync,
  closeSync,
  fstatSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fromText } from '../../../../../lib/byte-string.ts';
import { complete, type Steps } from '../../../../../lib/fuse/connection/steps.ts';
import type { Header } from '../../../../../lib/workspaces/delta/index/header.ts';
import { Journal } from '../../../../../lib/workspaces/delta/index/journal.ts';
import { CollectedLines, type JournalReceiver } from '../../../../../lib/workspaces/delta/index/read-journal.ts';
import type { Op } from '../../../../../lib/workspaces/delta/index/records.ts';

const HEADER = ['paddock-delta', 4, 2, 2 ** 48, '0', [], '', 0];
const LINES = 10_000;
/** Lines in a block of 64 KiB, of at least 30 bytes each. */
const MOST_AT_ONCE = 65_536 / 30;

class Received implements JournalReceiver {
  readonly events: (string | number)[] = [];
  readonly lineCounts: number[] = [];

  *header({ top }: Header): Steps<void> {
    this.events.push(`header of ${top}`);
    yield;
  }

  *lines(lines: readonly Op[][]): Steps<void> {
    this.lineCounts.push(lines.length);
    for (const [number] of lines) this.events.push(number as unknown as number);
    yield;
  }
}

function journalOf(count: number): string {
  const home = mkdtempSync(join(tmpdir(), 'journal-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const path = join(home, 'journal');
  const journal = new Journal(path);
  journal.begin(HEADER);
  for (let number = 0; number < count; number++) journal.append([number, 'x'.repeat(20)]);
  journal.close();
  return path;
}

it('a journal is passed on while it is read: header, then some lines at a time, then a torn line is removed', () => {
  const path = journalOf(LINES);
  appendFileSync(path, '[12345,');
  const received = new Received();
  const journal = new Journal(path);
  complete(journal.loading(received));
  expect(received.events).toEqual(['header of 0', ...Array.from({ length: LINES }, (_, number) => number)]);
  expect(Math.max(...received.lineCounts)).toBeLessThan(MOST_AT_ONCE);
  journal.append(['later']);
  journal.close();
  const again = new Received();
  complete(new Journal(path).loading(again));
  expect(again.events.at(-1)).toBe('later');
});

it('the lines of an older server’s journal are read again a part at a time, to be converted', () => {
  const home = mkdtempSync(join(tmpdir(), 'journal-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const lines = [['paddock-delta', 3, 2, 2 ** 48, '0', [], '']].map((line) => JSON.stringify(line));
  for (let number = 0; number < LINES; number++) lines.push(JSON.stringify([number, 'x'.repeat(30)]));
  writeFileSync(join(home, 'journal'), `${lines.join('\n')}\n`);
  const journal = new Journal(join(home, 'journal'));
  complete(journal.loading(new Received()));
  let atOnce = 0;
  let most = 0;
  const read: unknown[] = [];
  for (const line of journal.linesAgain()) {
    atOnce = line.length === 0 ? 0 : atOnce + 1;
    most = Math.max(most, atOnce);
    if (line.length > 0) read.push(line[0]);
  }
  journal.close();
  expect(read).toEqual(Array.from({ length: LINES }, (_, number) => number));
  expect(most).toBeLessThan(MOST_AT_ONCE);
});

it('a replaced journal is freed in steps, unless it is the index of a frozen layer', () => {
  const sizesWhile = (before: (journal: Journal, path: string) => void) => {
    const path = journalOf(LINES * 5);
    const journal = new Journal(path);
    complete(journal.loading(new Received()));
    before(journal, path);
    const replaced = openSync(path, 'r');
    const sizes = [fstatSync(replaced).size];
    const rewriting = journal.rewriting([HEADER]);
    for (let done = false; !done; sizes.push(fstatSync(replaced).size)) done = rewriting.next().done === true;
    closeSync(replaced);
    journal.close();
    return sizes;
  };
  const frozen = sizesWhile((journal, path) => journal.linkTo(`${path}.frozen`));
  expect(new Set(frozen).size).toBe(1);
  const sizes = sizesWhile(() => undefined);
  expect(sizes[0]).toBe(frozen[0]);
  expect(sizes.at(-1)).toBeLessThanOrEqual(1 << 20);
  const freed = sizes.slice(1).map((size, index) => sizes[index]! - size);
  expect(Math.max(...freed)).toBe(1 << 20);
});

it('lines before a damaged one are passed on, and the damage is told', () => {
  const path = journalOf(LINES);
  appendFileSync(path, '[12345,"other"]\n');
  const received = new Received();
  expect(() => complete(new Journal(path).loading(received))).toThrow('does not match its checksum');
  expect(received.events[0]).toBe('header of 0');
  expect(received.events).not.toContain('other');
});

describe('a line of many operations', () => {
  /** Like the places between two operations. */
  const NAME = '],["new",],["link",\\"],["';
  const operations = (): Op[] =>
    Array.from({ length: LINES }, (_, number) =>
      number % 2 === 0
        ? ['new', number, 1, 0o100644, 0, 0, [1, 2, 3, 4, 5, 6], ['sb_1.1', number, -1, 0, 0, 0]]
        : ['link', 1, fromText(`${NAME}${number}`), number],
    );
  const written = () => {
    const path = journalOf(1);
    const journal = new Journal(path);
    complete(journal.loading(new Received()));
    complete(journal.appending(operations()));
    journal.append(['later']);
    journal.close();
    return path;
  };

  it('is passed on in parts', () => {
    const received = new CollectedLines();
    const journal = new Journal(written());
    complete(journal.loading(received));
    journal.append(['last']);
    journal.close();
    const [first, ...parts] = received.collected;
    expect(first?.[0]).toBe(0);
    expect(parts.pop()).toEqual(['later']);
    expect(parts.flat()).toEqual(operations());
    expect(Math.max(...parts.map(({ length }) => length))).toBeLessThan(MOST_AT_ONCE * 2);
  });

  it('is not passed on at all if a part of it is damaged or missing', () => {
    const path = written();
    const text = readFileSync(path, 'latin1');
    const damaged = new CollectedLines();
    writeFileSync(path, text.replace(NAME.slice(0, 5), '],{"n'), 'latin1');
    expect(() => complete(new Journal(path).loading(damaged))).toThrow('line 3 does not match its checksum');
    const torn = new CollectedLines();
    writeFileSync(path, text.slice(0, -10_000), 'latin1');
    complete(new Journal(path).loading(torn));
    for (const { collected } of [damaged, torn]) expect(collected.length).toBe(1);
  });
});
