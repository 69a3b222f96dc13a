import { describe, expect, it } from 'vitest';
import { Sandbox } from './sandbox.ts';

const MANY = 100;

function askInVain(sandbox: Sandbox): void {
  for (let i = 0; i < MANY; i++) expect(sandbox.exists(`d/absent-${i}`)).toBe(false);
}

describe('a directory asked for many names it has not', () => {
  it('still shows what it has', () => {
    const sandbox = new Sandbox({ 'd/one': '1', 'd/sub/two': '2' });
    askInVain(sandbox);
    expect(sandbox.read('d/one')).toBe('1');
    expect(sandbox.read('d/sub/two')).toBe('2');
  });

  it('shows what the sandbox makes, removes and moves afterwards', () => {
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

  it('shows what is uploaded afterwards', () => {
    const sandbox = new Sandbox({ 'd/one': '1' });
    askInVain(sandbox);
    sandbox.fs.baseChanging('cb_1', ['d/absent-3']);
    sandbox.putBase('d/absent-3', 'uploaded');
    expect(sandbox.exists('d/absent-4')).toBe(false);
    sandbox.fs.baseChanged('cb_1', ['d/absent-3']);
    expect(sandbox.read('d/absent-3')).toBe('uploaded');
  });
});
