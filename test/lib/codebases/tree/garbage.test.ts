import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { StoresHere } from '../../../../lib/codebases/tree/stores/stores-here.ts';
import { eventually } from '../../../contract/scene.ts';
import { ServiceScratch } from './service.ts';

const SIZE = 100_000;
const large = (letter: string) => letter.repeat(SIZE);

let scratch: ServiceScratch;
let id: string;
let kept: string[];
beforeEach(async () => {
  scratch = new ServiceScratch();
  kept = [];
  scratch.makeStores = (keeper) => {
    const options = { path: scratch.folder, limits: scratch.limits, reserve: 0, leastGarbage: 3.5 * SIZE } as const;
    const noting = { ...keeper, garbageKept: async (_: string, why: string) => void kept.push(why) };
    return new StoresHere(options, noting);
  };
  await scratch.open();
  id = await scratch.create();
});
afterEach(() => scratch.remove());

/** The files of large contents. */
function blobs(): string[] {
  const folder = join(scratch.folder, id, 'blobs');
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());
}

it('contents that no file has any more are removed in the background, and the files stay', async () => {
  await scratch.upload(id, 'kept', large('k'));
  for (const letter of ['a', 'b', 'c', 'd', 'e']) await scratch.upload(id, 'f', large(letter));
  await eventually('the removal', () => blobs().length <= 3);
  expect(await scratch.text(id, 'kept')).toBe(large('k'));
  expect(await scratch.text(id, 'f')).toBe(large('e'));
  await scratch.open();
  expect(await scratch.text(id, 'kept')).toBe(large('k'));
  expect(kept).toEqual([]);
});

it('an export that goes on has what it began with', async () => {
  const paths = ['a', 'b', 'c', 'd', 'e', 'f'];
  for (const path of paths) await scratch.upload(id, path, large(path));
  const parts: Uint8Array[] = [];
  const exporting = (await scratch.codebases.exportArchive(id, ''))[Symbol.asyncIterator]();
  parts.push((await exporting.next()).value);
  await scratch.upload(id, 'x', large('x'));
  for (const path of ['x', ...paths]) await scratch.codebases.removeFile(id, path);
  await scratch.upload(id, 'y', large('y'));
  // That of x alone.
  await eventually('the removal', () => blobs().length <= 7);
  for (let next = await exporting.next(); !next.done; next = await exporting.next()) parts.push(next.value);
  const archive = Buffer.concat(parts).toString('latin1');
  for (const path of paths) expect(archive.includes(large(path))).toBe(true);
});

it('nothing is removed if a file that stays has lost its contents, and that is told', async () => {
  await scratch.upload(id, 'kept', large('k'));
  for (const path of blobs()) rmSync(path);
  for (const letter of ['a', 'b', 'c', 'd', 'e']) await scratch.upload(id, 'f', large(letter));
  await eventually('the report', () => kept.length > 0);
  expect(kept[0]).toMatch(/at "kept"; nothing was removed as garbage$/);
  expect(blobs().length).toBe(5);
});
