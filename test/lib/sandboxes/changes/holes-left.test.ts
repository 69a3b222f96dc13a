import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { fromText } from '../../../../lib/byte-string.ts';
import { ChangeSides, type ReadChange } from '../../../../lib/sandboxes/changes/change-sides.ts';

let base: string;
let sides: ChangeSides;
beforeEach(async () => {
  base = mkdtempSync(join(tmpdir(), 'paddock-holes-'));
  sides = await ChangeSides.open([], { id: 'sb_1', base, attached: () => expect.unreachable() });
});
afterEach(async () => {
  await sides.close();
  rmSync(base, { recursive: true });
});

/** Whether a patch has the contents of a removed file with so many bytes, of which all but those of `data` are a hole. */
async function isRead(name: string, size: number, data = ''): Promise<boolean> {
  writeFileSync(join(base, name), data);
  truncateSync(join(base, name), size);
  const change = { path: fromText(name), base: { mode: 0o100644, size } } as ReadChange;
  return !(await sides.base(change))!.isLeftOut;
}

it('one export reads holes of a gigabyte in all, and files without holes beyond', async () => {
  const sparse: boolean[] = [];
  for (let n = 0; n < 4; n++) sparse.push(await isRead(`y${n}`, 500 * 2 ** 20));
  expect(sparse).toEqual([true, true, false, false]);
  const text = 'x'.repeat(2 ** 20);
  expect(await isRead('text', text.length, text)).toBe(true);
  expect(await isRead('small', 1000)).toBe(true);
});
