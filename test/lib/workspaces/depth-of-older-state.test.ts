import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fromText, ROOT_PATH } from '../../../lib/byte-string.ts';
import { ServiceError } from '../../../lib/errors.ts';
import { outcome, Sandbox } from './sandbox.ts';

const ENAMETOOLONG = 'ENAMETOOLONG';

function refusalOf(act: () => unknown): ServiceError {
  try {
    act();
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
  throw new Error('it was not refused');
}

/** Writes a delta of journal version 3, which had no limit. */
function deepState(delta: string, depth: number): void {
  const times = [1, 0, 1, 0, 1, 0];
  const make = (id: number) => ['new', id, 2 ** 48 + id, 0o40755, 4001, 4001, times, id === 1 ? '' : null];
  const lines: unknown[] = [['paddock-delta', 3, depth + 3, 2 ** 48 + depth + 3, '0', [], ''], [make(1)]];
  for (let id = 2; id <= depth + 1; id++) lines.push([make(id), ['link', id - 1, 'd', id]]);
  mkdirSync(delta, { recursive: true });
  writeFileSync(join(delta, 'journal'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
}

describe('a deeper tree of an older state', () => {
  const DEPTH = 20_000;

  function deep(): { s: Sandbox; bottom: number } {
    const s = new Sandbox({ file: 'f' });
    s.fs.detach('sb_1');
    deepState(s.spec.delta, DEPTH);
    s.restart();
    let id = s.id('');
    for (let depth = 0; depth < DEPTH; depth++) id = s.fs.lookup(s.caller, id, fromText('d'))!.nodeid;
    return { s, bottom: id };
  }

  it('refuses new names, and a listing of changes reports it in one sentence', () => {
    const { s, bottom } = deep();
    expect(outcome(() => s.fs.mkdir(s.caller, bottom, fromText('e'), 0o755))).toBe(ENAMETOOLONG);
    expect(s.listId(bottom)).toEqual([]);
    const { code, message } = refusalOf(() => s.fs.changes('sb_1', ROOT_PATH, 100_000));
    expect(code).toBe('FAILED_PRECONDITION');
    expect(message).toContain('4096 bytes below "d"');
  });

  it('can be discarded, including all its nodes in the kernel', () => {
    const { s } = deep();
    expect(s.fs.revert('sb_1', [ROOT_PATH])).toBe(DEPTH);
    expect(s.list('')).toEqual(['file']);
    s.restart();
    expect(s.list('')).toEqual(['file']);
  });

  it('can be renamed, frozen and rolled back', () => {
    const { s } = deep();
    const { layer } = s.fs.freeze('sb_1');
    expect(outcome(() => s.rename('d', 'longer'))).toBe(ENAMETOOLONG);
    s.rename('d', 'e');
    s.fs.rollback('sb_1', layer);
    expect(s.list('')).toEqual(['d', 'file']);
    s.fs.setRules('sb_1', [{ pattern: '/**', permission: 'PERMISSION_READ', type: 'PATTERN_GLOB', priority: 0 }]);
    s.fs.detach('sb_1');
  });
});
