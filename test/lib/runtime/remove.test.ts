import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { removeDirectory } from '../../../lib/runtime/remove.ts';

const base = mkdtempSync(join(tmpdir(), 'paddock-remove-'));
afterAll(() => rmSync(base, { recursive: true, force: true }));

describe('the removal of a directory', () => {
  it('removes all that is in it, and nothing that its links lead to', () => {
    const [own, kept] = [join(base, 'own'), join(base, 'kept')];
    mkdirSync(join(own, 'a/b'), { recursive: true });
    mkdirSync(kept);
    for (const file of [join(own, 'a/b/file'), join(own, 'file'), join(kept, 'file')]) writeFileSync(file, 'x');
    symlinkSync(kept, join(own, 'a/link'));
    symlinkSync('nowhere', join(own, 'dangling'));
    removeDirectory(own);
    expect(existsSync(own)).toBe(false);
    expect(readFileSync(join(kept, 'file'), 'latin1')).toBe('x');
  });

  it('does nothing for a path that does not exist, and removes a file', () => {
    const file = join(base, 'file');
    writeFileSync(file, '');
    for (const path of [join(base, 'none'), file, file]) removeDirectory(path);
    expect(existsSync(file)).toBe(false);
  });
});
