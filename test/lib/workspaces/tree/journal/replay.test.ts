import { describe, expect, it } from 'vitest';
import { fromLatin1 } from '../../../../../lib/byte-string.ts';
import { setText } from '../../../../../lib/workspaces/tree/changes/contents.ts';
import { drop, put } from '../../../../../lib/workspaces/tree/changes/names.ts';
import { thaw } from '../../../../../lib/workspaces/tree/changes/thaw.ts';
import type { JournalRecord } from '../../../../../lib/workspaces/tree/journal/records.ts';
import { RecordError, Replay } from '../../../../../lib/workspaces/tree/journal/replay.ts';
import { fileEntry } from '../../../trees/random.ts';
import { difference, flatOf } from '../flat.ts';
import { at, liveTree, TIME } from '../live.ts';

const link = (id: number, name: string) => [id, fromLatin1(name)] as const;

describe('a journal of a live tree', () => {
  it('gets one record for a change, after one for each directory that it did not know', () => {
    const { tree, journal } = liveTree(['a/b/file', 'a/b/other']);
    put(tree, ...at(tree, 'a/b/new'), fileEntry('', '', { ino: 50 }), TIME);
    drop(tree, ...at(tree, 'a/b/other'), TIME);
    setText(tree, thaw(tree, ...at(tree, 'a/b/file')), true);
    const told = journal.records.map((record) => ('at' in record ? [record.op, ...record.at] : [record.op]));
    expect(told).toEqual([
      ['own', 0, 'a'],
      ['own', 1, 'b'],
      ['put', 2, 'new'],
      ['drop', 2, 'other'],
      ['thaw'],
      ['text'],
    ]);
  });

  it('goes on after a replay with the numbers of before', () => {
    const first = liveTree(['a/file']);
    put(first.tree, ...at(first.tree, 'a/new'), fileEntry('', '', { ino: 50 }), TIME);
    const second = liveTree(['a/file']);
    const replay = new Replay(second.tree);
    for (const record of first.journal.records) replay.apply(record);
    for (const { tree } of [first, second]) setText(tree, thaw(tree, ...at(tree, 'a/new')), true);
    expect(second.journal.records).toEqual(first.journal.records.slice(-1));
    expect(difference(flatOf(second.tree), flatOf(first.tree))).toBe('');
  });

  it.each<[string, JournalRecord]>([
    ['a number that nothing has', { op: 'put', at: link(3, 'x'), entry: fileEntry('x', ''), time: TIME }],
    ['a directory that is not there', { op: 'own', at: link(0, 'none') }],
    ['a file for a directory', { op: 'own', at: link(0, 'file') }],
    ['a directory for a file', { op: 'thaw', links: [link(0, 'a')] }],
    ['a file without names', { op: 'thaw', links: [] }],
    ['a directory that is not empty', { op: 'drop', at: link(0, 'a'), time: TIME }],
    ['the number of a directory for a file', { op: 'text', file: 0, agentText: true }],
  ])('is damaged if it tells of %s', (_, record) => {
    const { tree } = liveTree(['a/b', 'file']);
    expect(() => new Replay(tree).apply(record)).toThrow(RecordError);
  });
});
