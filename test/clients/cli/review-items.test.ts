import { describe, expect, it } from 'vitest';
import { canOpen, hasContents, itemLine, itemsIn, itemsOf } from '../../../clients/cli/src/review/items.ts';
import type { FileChange } from '../../../clients/typescript/src/contract/messages.ts';

type Kind = 'A' | 'M' | 'D';
const KINDS = { A: 'added', M: 'modified', D: 'deleted' } as const;

function change(kind: Kind, path: string, more: Partial<FileChange> = {}): FileChange {
  const type = path.endsWith('/') ? 'directory' : 'file';
  return {
    ...{ path: path.replace(/\/$/, ''), kind: KINDS[kind], type, baseType: type, size: 1, baseSize: 1, mode: 0o644 },
    ...{
      baseMode: 0o644,
      contentChanged: true,
      renamedFrom: '',
      conflict: false,
      scratch: false,
      cameAlong: false,
      losesValues: false,
      ...more,
    },
  };
}

const plain = (text: string) => text;
const paint = { bold: plain, cyan: plain, dim: plain, green: plain, red: plain, yellow: plain };
const linesOf = (changes: readonly FileChange[]) => itemsOf(changes).map((item) => itemLine(item, paint as never));

describe('the items of a review', () => {
  it('are modified files first, then renames, additions and removals', () => {
    const changes = [
      change('D', 'a'),
      change('A', 'b'),
      change('M', 'c'),
      change('D', 'd'),
      change('A', 'e', { renamedFrom: 'd' }),
    ];
    expect(linesOf(changes)).toEqual(['M c', 'R d → e', 'A b', 'D a']);
  });

  it('have one for a new directory and for a removed one, with the number of files', () => {
    const changes = [
      ...['node_modules/', 'node_modules/a/', 'node_modules/a/x', 'node_modules/y'].map((path) => change('A', path)),
      ...['old/', 'old/z', 'read.me'].map((path) => change(path === 'read.me' ? 'M' : 'D', path)),
    ];
    expect(linesOf(changes)).toEqual(['M read.me', 'A node_modules/ (2 files)', 'D old/ (1 file)']);
    expect(itemsOf(changes)[1]!.changes.length).toBe(4);
  });

  it('have one for a renamed directory, and one for each file in it that is new or was written', () => {
    const changes = [
      change('A', 'lib/', { renamedFrom: 'src' }),
      change('A', 'lib/a', { renamedFrom: 'src/a', cameAlong: true }),
      change('A', 'lib/b', { renamedFrom: 'src/b' }),
      change('A', 'lib/new'),
      change('D', 'src/'),
      change('D', 'src/a'),
      change('D', 'src/b'),
      change('D', 'src/gone'),
    ];
    expect(linesOf(changes)).toEqual(['R src/ → lib/ (1 file)', 'R src/b → lib/b', 'A lib/new']);
    expect(itemsOf(changes)[0]!.changes.map(({ path }) => path)).toEqual(['lib', 'lib/a', 'src', 'src/a', 'src/gone']);
  });

  it('tell of a renamed file what runs it, and that it is in conflict', () => {
    const changes = [change('A', 'Makefile', { renamedFrom: 'old', conflict: true }), change('D', 'old')];
    expect(linesOf(changes)).toEqual(['R old → Makefile (conflict) [runs on your machine: make]']);
    expect(hasContents(itemsOf(changes)[0]!)).toBe(true);
  });

  it('are those of the next level in a directory that is opened', () => {
    const [item] = itemsOf(['n/', 'n/a/', 'n/a/x', 'n/y'].map((path) => change('A', path)));
    expect(itemsIn(item!).map((each) => itemLine(each, paint as never))).toEqual(['A n/y', 'A n/a/ (1 file)']);
  });

  it('are one for each path if a renamed file is not gone, and in another directory of the same beginning', () => {
    const changes = [change('A', 'a/'), change('A', 'a-b'), change('A', 'a/x', { renamedFrom: 'still' })];
    expect(linesOf(changes)).toEqual(
      ['A a-b (was still)', 'A a/ (1 file)'].map((line) => line.replace(' (was still)', '')),
    );
  });

  it('are opened if something is in them', () => {
    expect([change('A', 'd/'), change('D', 'e/')].map((each) => canOpen(itemsOf([each])[0]!))).toEqual([false, false]);
  });

  it('are found in a moment among very many', () => {
    const changes = Array.from({ length: 100_000 }, (_, index) => change('A', `d${index}/`));
    expect(itemsOf(changes).length).toBe(100_000);
  });
});
