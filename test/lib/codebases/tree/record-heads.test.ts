import { mkdtempSync, rmSync } from 'node:fs';
import * as fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { requireFormat } from '../../../../lib/codebases/require-format.ts';
import { RecordHeads } from '../../../../lib/codebases/tree/record-heads.ts';
import { storedHead } from '../../../../lib/codebases/tree/stored-head.ts';
import { ServiceError } from '../../../../lib/errors.ts';
import { silentLog } from '../../../../lib/log.ts';
import type { CodebaseRecord, Metadata, StoredHead } from '../../../../lib/metadata/metadata.ts';
import { openMetadata } from '../../../../lib/metadata/store.ts';
import { TreeScratch } from './trees.ts';

let folder: string;
let metadata: Metadata;
let opened: Metadata[];
let isBroken: boolean;
let refusal: ServiceError | undefined;
/** Those of a codebase that grows and shrinks. */
let [first, second, third]: StoredHead[] = [];

const present = () => metadata.codebases.get('cb_1')?.tree;
const heads = () => new RecordHeads(metadata.codebases, () => refusal);
const advance = (from: StoredHead, to: StoredHead) => heads().advance('cb_1', from, to);

async function open(): Promise<void> {
  const opening = (async (...args: Parameters<typeof fs.open>) => {
    const file = await fs.open(...args);
    const { datasync } = file;
    file.datasync = async () => {
      if (isBroken) throw Object.assign(new Error('EIO'), { code: 'EIO' });
      await datasync.call(file);
    };
    return file;
  }) as typeof fs.open;
  metadata = await openMetadata(join(folder, 'db.json'), silentLog, { fileSystem: { ...fs, open: opening } });
  opened.push(metadata);
}

beforeEach(async () => {
  [isBroken, refusal, opened] = [false, undefined, []];
  folder = mkdtempSync(join(tmpdir(), 'paddock-heads-'));
  const scratch = new TreeScratch();
  const head = () => storedHead(scratch.codebase.head);
  first = head();
  await scratch.put('a', 'contents');
  second = head();
  await scratch.codebase.remove('a');
  third = head();
  await open();
  await metadata.codebases.put({ id: 'cb_1', name: 'a', owner_id: 'ann', tree: first } as CodebaseRecord);
});
afterEach(async () => {
  isBroken = false;
  for (const each of opened) await each.close();
  rmSync(folder, { recursive: true });
});

it('moves from what it is, and is durable when the call resolves', async () => {
  expect(await advance(first!, second!)).toEqual({ moved: true });
  // As after a crash: nothing is written at the end.
  await open();
  expect(present()).toEqual(second);
  expect(heads().of(metadata.codebases.get('cb_1')!).root.totals.bytes).toBe(8);
});

it('of many moves from one head makes the first, and tells the others where it is', async () => {
  const outcomes = await Promise.all([advance(first!, second!), advance(first!, third!), advance(first!, second!)]);
  expect(outcomes).toEqual([{ moved: true }, { present: second }, { present: second }]);
});

it('keeps the other fields of the record', async () => {
  await metadata.codebases.put({ ...metadata.codebases.get('cb_1')!, name: 'b' });
  await advance(first!, second!);
  expect(metadata.codebases.get('cb_1')).toMatchObject({ name: 'b', owner_id: 'ann', tree: second });
});

it('is what it was when the move could not be stored, also after the next start', async () => {
  isBroken = true;
  await expect(advance(first!, second!)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  expect(present()).toEqual(first);
  isBroken = false;
  expect(await advance(first!, third!)).toEqual({ moved: true });
  await open();
  expect(present()).toEqual(third);
});

it('does not move for a codebase that is gone', async () => {
  await metadata.codebases.remove('cb_1');
  expect(await advance(first!, second!)).toEqual({ present: undefined });
  expect(metadata.codebases.get('cb_1')).toBeUndefined();
});

it('does not move to more bytes than the owner may have, and always to fewer', async () => {
  refusal = new ServiceError('RESOURCE_EXHAUSTED', 'too much');
  expect(await advance(first!, second!)).toEqual({ refused: 'too much' });
  expect(present()).toEqual(first);
  refusal = undefined;
  await advance(first!, second!);
  refusal = new ServiceError('RESOURCE_EXHAUSTED', 'too much');
  expect(await advance(second!, third!)).toEqual({ moved: true });
});

it('a server of the other format refuses the record by its id, in one line', async () => {
  const records = () => metadata.codebases.values();
  requireFormat(records(), 'tree');
  expect(() => requireFormat(records(), 'plain')).toThrow(
    /^storage.codebase_format: must be "tree", in which codebases such as cb_1 are stored; [^\n]*$/,
  );
  await metadata.codebases.put({ id: 'cb_2', name: 'b', owner_id: 'ann' } as CodebaseRecord);
  expect(() => requireFormat(records(), 'tree')).toThrow(/must be "plain", in which codebases such as cb_2 are stored/);
});
