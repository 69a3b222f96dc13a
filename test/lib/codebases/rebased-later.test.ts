import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fromText } from '../../../lib/byte-string.ts';
import { Scratch } from './scratch.ts';

let scratch: Scratch;
let id: string;
beforeEach(async () => {
  scratch = new Scratch();
  await scratch.open();
  id = await scratch.codebase();
});
afterEach(() => scratch.remove());

const commit = (content: string, rebasesLater = true, meanwhile = () => {}, failed?: () => Promise<void>) =>
  scratch.codebases.apply(id, async (staging) => {
    meanwhile();
    writeFileSync(join(staging, '0'), content);
    return {
      sandboxId: 'sb_1',
      stages: [{ steps: [['put', fromText('f'), fromText('0')]], settled: [] }],
      givenUp: [],
      paths: [fromText('f')],
      removed: [],
      growth: { files: 1, bytes: content.length, directories: 0 },
      rebasesLater,
      failed,
    };
  });

/** Lets the rebase begin, and end when the result is called. */
function heldRebase(): () => void {
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  scratch.onRebase = () => ended;
  return end;
}

describe('a commit whose sandbox shows the same before it is rebased', () => {
  it('is answered before that, when the codebase has it and observers know', async () => {
    const end = heldRebase();
    await commit('committed');
    expect(await scratch.text(id, 'f')).toBe('committed');
    expect(scratch.told.slice(0, 2)).toEqual(['changing f', 'changed f']);
    end();
    await scratch.codebases.finishCommit(id);
    expect(scratch.told).toEqual(['changing f', 'changed f', 'rebase commit 0']);
  });

  it('is followed by no other change of the codebase before the rebase', async () => {
    const end = heldRebase();
    await commit('committed');
    const uploading = scratch.upload(id, 'other');
    await expect.poll(() => scratch.told.at(-1)).toBe('rebase commit 0');
    expect(scratch.told).not.toContain('changing other');
    end();
    await uploading;
    expect(scratch.told.slice(2, 4)).toEqual(['rebase commit 0', 'changing other']);
  });

  it('is made once more from its journal if the rebase fails, before the next change', async () => {
    let failures = 1;
    scratch.onRebase = () => {
      if (failures-- > 0) throw new Error('disk');
    };
    await commit('committed');
    await scratch.upload(id, 'other');
    expect(scratch.told.filter((each) => each.startsWith('rebase'))).toEqual([
      'rebase commit 0',
      'rebase commit 0 resumed',
    ]);
    expect(await scratch.text(id, 'f')).toBe('committed');
  });

  it('fails no change that waits for it: a rebase that fails is made once more first', async () => {
    await scratch.upload(id, 'old');
    let failures = 1;
    scratch.onRebase = () => {
      if (failures-- > 0) throw new Error('disk');
    };
    let removing: Promise<void> | undefined;
    await commit('committed', true, () => {
      removing = scratch.codebases.removeFile(id, 'old');
    });
    await expect(removing).resolves.toBeUndefined();
    expect(scratch.told.filter((each) => /^(rebase|changing)/.test(each)).slice(1)).toEqual([
      'changing f',
      'rebase commit 0',
      'changing f',
      'rebase commit 0 resumed',
      'changing old',
    ]);
  });

  it('is waited for, before it is made once more, if the observers could not be told', async () => {
    const end = heldRebase();
    scratch.onChanged = () => {
      scratch.onChanged = () => {};
      throw new Error('no mount');
    };
    await expect(commit('committed')).rejects.toThrow('no mount');
    const uploading = scratch.upload(id, 'other');
    await expect.poll(() => scratch.told.at(-1)).toBe('rebase commit 0');
    end();
    await uploading;
    expect(scratch.told.slice(0, -1)).toEqual([
      'changing f',
      'changed f',
      'rebase commit 0',
      'changing f',
      'rebase commit 0 resumed',
      'changed f',
      'changing other',
    ]);
  });

  it('ends before a server that is stopped closes the codebase', async () => {
    const end = heldRebase();
    await commit('committed');
    let closed = false;
    const closing = scratch.codebases.close().then(() => {
      closed = true;
    });
    await expect.poll(() => scratch.told.at(-1)).toBe('rebase commit 0');
    expect(closed).toBe(false);
    end();
    await closing;
    scratch.told.length = 0;
    await scratch.open();
    expect(scratch.told).toEqual([]);
  });

  it('is rebased by the next server if this one ends before', async () => {
    heldRebase();
    await commit('committed');
    await expect.poll(() => scratch.told.at(-1)).toBe('rebase commit 0');
    scratch.onRebase = () => {};
    scratch.told.length = 0;
    await scratch.open();
    expect(scratch.told).toContain('rebase commit 0 resumed');
    expect(await scratch.text(id, 'f')).toBe('committed');
  });

  it('is rebased before the answer unless the plan says otherwise', async () => {
    await commit('committed', false);
    expect(scratch.told).toEqual(['changing f', 'rebase commit 0', 'changed f']);
  });
});

it.each([
  ['rebase', () => (scratch.onRebase = () => Promise.reject(new Error('disk')))],
  ['observer', () => (scratch.onChanging = () => Promise.reject(new Error('disk')))],
])('a commit that fails tells its maker before the observer is told again: %s', async (_, fail) => {
  fail();
  await expect(commit('committed', false, undefined, async () => void scratch.told.push('failed'))).rejects.toThrow(
    'disk',
  );
  expect(scratch.told.slice(-2)).toEqual(['failed', 'changed f']);
});
