import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { complete } from '../../../lib/fuse/connection/steps.ts';
import { Journal } from '../../../lib/workspaces/delta/index/journal.ts';
import { readLines, sealedLine } from '../../../lib/workspaces/delta/index/journal-lines.ts';
import { JournalReserve } from '../../../lib/workspaces/delta/index/journal-reserve.ts';
import { CollectedLines } from '../../../lib/workspaces/delta/index/read-journal.ts';

function place(): string {
  const home = mkdtempSync(join(tmpdir(), 'journal-reserve-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  return join(home, 'journal');
}

const HEADER = ['paddock-delta', 4, 2, 2 ** 48, '0', [], '', 0];

/** Creates a journal of two lines, and a reserve of three lines that a full disk kept out of it. */
function withReserve(path: string): { joint: { ino: number; size: number }; lines: string[] } {
  const journal = new Journal(path);
  journal.begin(HEADER);
  journal.append(['one']);
  journal.append(['two']);
  journal.close();
  const { ino, size } = statSync(path);
  const reserve = new JournalReserve(`${path}.reserve`);
  reserve.load({ ino, size });
  let { sum } = readLines(readFileSync(path, 'latin1'));
  const lines = ['three', 'four', 'five'].map((word) => {
    const sealed = sealedLine([word], sum);
    sum = sealed.sum;
    return sealed.line;
  });
  for (const line of lines) expect(reserve.add(line, { ino, size })).toBe(true);
  reserve.close();
  return { joint: { ino, size }, lines };
}

function load(journal: Journal): unknown[][] {
  const all = new CollectedLines();
  complete(journal.loading(all));
  return all.collected as unknown[][];
}

const words = (path: string) => load(new Journal(path)).map(([word]) => word);

describe('lines that a full disk kept out of the journal', () => {
  it('are kept over a restart, and precede later lines', () => {
    const path = place();
    withReserve(path);
    expect(words(path)).toEqual(['one', 'two', 'three', 'four', 'five']);
    const journal = new Journal(path);
    load(journal);
    journal.append(['six']);
    journal.close();
    expect(words(path)).toEqual(['one', 'two', 'three', 'four', 'five', 'six']);
    expect(readFileSync(path, 'latin1').split('\n')).toHaveLength(8);
  });

  it.each([0, 1, 2, 3])('are applied once if a crash happens after the journal got %i of them', (taken) => {
    const path = place();
    const { lines } = withReserve(path);
    appendFileSync(path, lines.slice(0, taken).join(''));
    expect(words(path)).toEqual(['one', 'two', 'three', 'four', 'five']);
    const journal = new Journal(path);
    load(journal);
    journal.append(['six']);
    journal.close();
    expect(words(path)).toEqual(['one', 'two', 'three', 'four', 'five', 'six']);
  });

  it('are applied once if a crash happens after the journal got half of one', () => {
    const path = place();
    const { lines } = withReserve(path);
    appendFileSync(path, `${lines[0]}${lines[1]!.slice(0, 3)}`);
    expect(words(path)).toEqual(['one', 'two', 'three', 'four', 'five']);
  });

  it('are ignored after the journal is compacted', () => {
    const path = place();
    withReserve(path);
    const reserve = readFileSync(`${path}.reserve`);
    const journal = new Journal(path);
    load(journal);
    complete(journal.rewriting([[...HEADER.slice(0, -1), journal.nextGeneration], ['all']]));
    journal.close();
    expect(words(path)).toEqual(['all']);
    // The state after a crash right after the compaction.
    truncateSync(`${path}.reserve`, 0);
    appendFileSync(`${path}.reserve`, reserve);
    expect(words(path)).toEqual(['all']);
  });

  it('are ignored if they are partially written or damaged', () => {
    const path = place();
    withReserve(path);
    const text = readFileSync(`${path}.reserve`, 'latin1');
    rmSync(`${path}.reserve`);
    appendFileSync(`${path}.reserve`, text.replace('"five"]\n', '"fi\0\0\0\0'), 'latin1');
    expect(words(path)).toEqual(['one', 'two', 'three', 'four']);
    rmSync(`${path}.reserve`);
    appendFileSync(`${path}.reserve`, '\0'.repeat(20));
    expect(words(path)).toEqual(['one', 'two']);
  });

  it('are limited by the size of the reserve', () => {
    const path = place();
    const { joint } = withReserve(path);
    const reserve = new JournalReserve(`${path}.reserve`);
    reserve.load(joint);
    let { sum } = readLines(readFileSync(path, 'latin1') + reserve.lines);
    let added = 0;
    for (;;) {
      const sealed = sealedLine(['x'.repeat(1000)], sum);
      if (!reserve.add(sealed.line, joint)) break;
      sum = sealed.sum;
      added++;
    }
    reserve.close();
    expect(added).toBeGreaterThan(20);
    expect(words(path)).toHaveLength(5 + added);
    expect(statSync(`${path}.reserve`).size).toBe(32 * 1024);
  });
});

describe('an empty record', () => {
  it('is not written', () => {
    const path = place();
    const journal = new Journal(path);
    journal.begin(HEADER);
    journal.append(['one']);
    journal.append([]);
    complete(journal.appending([]));
    journal.append(['two']);
    journal.close();
    expect(words(path)).toEqual(['one', 'two']);
    expect(readFileSync(path, 'latin1').split('\n')).toHaveLength(4);
  });

  it('of an earlier server is read', () => {
    const path = place();
    const journal = new Journal(path);
    journal.begin(HEADER);
    journal.close();
    let { sum } = readLines(readFileSync(path, 'latin1'));
    for (const record of [['one'], [], [], ['],\n[1,]'], []]) {
      const sealed = sealedLine(record, sum);
      sum = sealed.sum;
      appendFileSync(path, sealed.line);
    }
    expect(words(path)).toEqual(['one', undefined, undefined, '],\n[1,]', undefined]);
  });
});
