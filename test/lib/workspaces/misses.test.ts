import { describe, expect, it } from 'vitest';
import { fromText } from '../../../lib/byte-string.ts';
import { Sandbox } from './sandbox.ts';

const MANY = 100;

function askInVain(sandbox: Sandbox): void {
  for (let i = 0; i < MANY; i++) expect(sandbox.exists(`d/absent-${i}`)).toBe(false);
}

describe('a directory after many lookups of missing names', () => {
  it('still shows its entries', () => {
    const sandbox = new Sandbox({ 'd/one': '1', 'd/sub/two': '2' });
    askInVain(sandbox);
    expect(sandbox.read('d/one')).toBe('1');
    expect(sandbox.read('d/sub/two')).toBe('2');
  });

  it('shows later additions, removals and moves of the sandbox', () => {
    const sandbox = new Sandbox({ 'd/one': '1', 'd/two': '2' });
    askInVain(sandbox);
    sandbox.create('d/absent-1', 'new');
    sandbox.unlink('d/one');
    sandbox.rename('d/two', 'd/absent-2');
    expect(sandbox.list('d')).toEqual(['absent-1', 'absent-2']);
    expect(sandbox.read('d/absent-2')).toBe('2');
    expect(sandbox.exists('d/one')).toBe(false);
    expect(sandbox.exists('d/two')).toBe(false);
  });

  it.each(['small', 'large'])('looks up no more names on disk if it is %s', (size) => {
    const long = 'n'.repeat(240);
    const names = Array.from({ length: size === 'small' ? 2 : 400 }, (_, i) => `d/${long}-${i}`);
    const sandbox = new Sandbox(Object.fromEntries(names.map((name) => [name, ''])));
    for (let round = 0; round < 4; round++) askInVain(sandbox);
    // An upload that the workspace was not told of.
    sandbox.putBase('d/absent-5', '');
    expect(sandbox.exists('d/absent-5')).toBe(false);
    expect(sandbox.exists(names[1]!)).toBe(true);
  });

  it('shows later uploads', () => {
    const sandbox = new Sandbox({ 'd/one': '1' });
    askInVain(sandbox);
    sandbox.fs.baseChanging('cb_1', [fromText('d/absent-3')]);
    sandbox.putBase('d/absent-3', 'uploaded');
    expect(sandbox.exists('d/absent-4')).toBe(false);
    sandbox.fs.baseChanged('cb_1', [fromText('d/absent-3')]);
    expect(sandbox.read('d/absent-3')).toBe('uploaded');
  });
});
