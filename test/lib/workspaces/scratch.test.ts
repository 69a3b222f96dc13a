import { describe, expect, it } from 'vitest';
import { fromText, ROOT_PATH } from '../../../lib/byte-string.ts';
import type { PermissionRule } from '../../../lib/contract/messages.ts';
import type { ChangeSelection } from '../../../lib/workspaces/workspaces.ts';
import { rule, Sandbox } from './sandbox.ts';

const scratch = (pattern: string, priority = 0): PermissionRule => ({
  ...rule(pattern, 'WRITE', priority),
  scratch: true,
});
const RULES = [rule('/**', 'WRITE'), scratch('**/.cache/**'), scratch('dist/**'), rule('dist/keep/**', 'WRITE', 1)];
const EVERYWHERE = [rule('/**', 'WRITE'), scratch('**/dist/**')];
const BASE = { a: 'a', 'src/x': 'x', 'src/.cache/b': 'b', 'dist/old': 'o', 'dist/keep/k': 'k' };

const MARKS = { added: '+', modified: 'M', deleted: '-' };

/** A line for each change that the selection has. */
function changes(s: Sandbox, selection: Partial<ChangeSelection> = {}, limit = 1000): string[] {
  const asked = { selection: { paths: [ROOT_PATH], exclude: [], scratch: false, ...selection }, withLeft: false };
  const all: string[] = [];
  for (let after = ROOT_PATH, more = true; more; ) {
    const page = s.fs.changes('sb_1', after, limit, asked);
    for (const { path, kind } of page.changes) {
      all.push(`${MARKS[kind]} ${path}`);
      after = path;
    }
    more = page.more;
  }
  return all;
}

const discard = (s: Sandbox, paths = [''], keeping: Partial<ChangeSelection> = {}) =>
  s.fs.revert('sb_1', paths.map(fromText), { exclude: [], scratch: false, ...keeping });

const sandbox = (rules = RULES) => new Sandbox(BASE, { rules });

describe('what is written at scratch paths', () => {
  it('is kept and is no change, unless it is asked for', () => {
    const s = sandbox();
    s.mkdir('.cache');
    s.create('.cache/one', '1');
    s.write('src/.cache/b', 'B');
    s.write('src/x', 'X');
    s.unlink('dist/old');
    s.create('dist/new', 'n');
    expect(changes(s)).toEqual(['M src/x']);
    expect(changes(s, { scratch: true })).toEqual([
      '+ .cache',
      '+ .cache/one',
      '+ dist/new',
      '- dist/old',
      'M src/.cache/b',
      'M src/x',
    ]);
    s.restart();
    expect([s.read('.cache/one'), s.read('src/.cache/b'), s.exists('dist/old')]).toEqual(['1', 'B', false]);
    expect(changes(s)).toEqual(['M src/x']);
  });

  it('is decided by the rule that wins, also after a change of the rules', () => {
    const s = sandbox();
    s.create('dist/new', 'n');
    s.create('dist/keep/new', 'n');
    expect(changes(s)).toEqual(['+ dist/keep/new']);
    s.fs.setRules('sb_1', [rule('/**', 'WRITE')]);
    expect(changes(s)).toEqual(['+ dist/keep/new', '+ dist/new']);
    s.fs.setRules('sb_1', [rule('/**', 'WRITE'), scratch('/**')]);
    expect(changes(s)).toEqual([]);
  });

  it('is told from other files by each of the paths of a hard link', () => {
    const s = sandbox();
    s.create('dist/new', 'n');
    s.link('dist/new', 'src/linked');
    expect(changes(s)).toEqual(['+ src/linked']);
  });

  it('becomes a change when it is renamed out of a scratch path, and ends to be one in it', () => {
    const s = sandbox();
    s.create('dist/new', 'n');
    s.rename('dist/new', 'src/new');
    s.rename('src/x', 'dist/x');
    expect(changes(s)).toEqual(['+ src/new', '- src/x']);
    s.rename('dist/old', 'src/old');
    expect(changes(s)).toEqual(['+ src/new', '+ src/old', '- src/x']);
  });

  it('does not make a change of a new directory that holds nothing else', () => {
    const s = sandbox();
    for (const dir of ['n', 'n/m', 'n/m/.cache', 'n/k', 'e', 'both', 'both/.cache', 'both/sub']) s.mkdir(dir);
    s.create('n/m/.cache/f', 'f');
    s.create('both/.cache/f', 'f');
    s.create('both/sub/f', 'f');
    expect(changes(s)).toEqual(['+ both', '+ both/sub', '+ both/sub/f', '+ e', '+ n', '+ n/k']);
    s.rmdir('n/k');
    expect(changes(s)).toEqual(['+ both', '+ both/sub', '+ both/sub/f', '+ e']);
    expect(changes(s, {}, 1)).toEqual(['+ both', '+ both/sub', '+ both/sub/f', '+ e']);
  });

  it('goes with its directory when that is removed', () => {
    const s = sandbox();
    for (const file of ['src/.cache/b', 'src/x']) s.unlink(file);
    for (const dir of ['src/.cache', 'src']) s.rmdir(dir);
    expect(changes(s)).toEqual(['- src', '- src/.cache', '- src/.cache/b', '- src/x']);
    s.unlink('dist/old');
    s.unlink('dist/keep/k');
    s.rmdir('dist/keep');
    s.rmdir('dist');
    expect(changes(s, { paths: [fromText('dist')] })).toEqual(['- dist/keep', '- dist/keep/k']);
    s.mkdir('dist');
    s.create('dist/other', 'o');
    expect(changes(s, { paths: [fromText('dist')] })).toEqual(['- dist/keep', '- dist/keep/k']);
  });

  it('is not what the codebase has in a directory that was renamed, unless its removal is scratch', () => {
    const s = new Sandbox({ 'action/dist/one': '1', 'action/dist/two': '2', 'dist/d/f': 'f' }, { rules: EVERYWHERE });
    s.write('action/dist/two', 'II');
    s.create('action/dist/own', 'o');
    s.rename('action', 'moved');
    s.rename('dist/d', 'dist/e');
    const removed = ['- action', '- action/dist', '- action/dist/one', '- action/dist/two'];
    expect(changes(s)).toEqual([...removed, '+ moved', '+ moved/dist', '+ moved/dist/one', '+ moved/dist/two']);
    s.rename('moved/dist', 'dist/moved');
    expect(changes(s)).toEqual([...removed, '+ dist/moved', '+ dist/moved/one', '+ dist/moved/two', '+ moved']);
    s.rename('dist', 'moved/dist');
    expect(changes(s, { paths: [fromText('dist')] })).toEqual([]);
  });

  it('is not what the codebase has in a directory that is renamed to a scratch path', () => {
    const s = sandbox();
    s.create('src/.cache/own', 'o');
    s.rename('src', 'dist/src');
    const added = ['+ dist/src', '+ dist/src/.cache', '+ dist/src/.cache/b', '+ dist/src/x'];
    expect(changes(s)).toEqual([...added, '- src', '- src/.cache', '- src/.cache/b', '- src/x']);
  });

  it('is not a directory in the place of a file', () => {
    const s = new Sandbox({ dist: 'file' }, { rules: RULES });
    s.unlink('dist');
    s.mkdir('dist');
    s.create('dist/f', 'f');
    expect(changes(s)).toEqual(['M dist']);
  });
});

describe('a selection of changes', () => {
  const work = (s: Sandbox) => {
    s.create('src/new.log', 'l');
    s.write('src/x', 'X');
    s.write('a', 'A');
    s.mkdir('logs');
    s.create('logs/one', '1');
  };

  it('has the chosen paths with everything below, without what globs exclude', () => {
    const s = sandbox();
    work(s);
    expect(changes(s, { paths: ['src', 'a'].map(fromText) })).toEqual(['M a', '+ src/new.log', 'M src/x']);
    expect(changes(s, { exclude: ['**/*.log', 'logs'] })).toEqual(['M a', 'M src/x']);
    expect(changes(s, { exclude: ['logs/'] }, 1)).toEqual(['M a', '+ src/new.log', 'M src/x']);
    expect(changes(s, { paths: [fromText('src')], exclude: ['src/**'] })).toEqual([]);
    expect(changes(s, { paths: [fromText('nothing')] })).toEqual([]);
  });

  it('that is not valid is refused by its index', () => {
    const s = sandbox();
    s.write('a', 'A');
    expect(() => changes(s, { exclude: ['ok', '[a'] })).toThrow('exclude[1] "[a" has an unclosed "["');
  });
});

describe('a discard', () => {
  it('leaves scratch, and the new directories that hold it', () => {
    const s = sandbox();
    for (const dir of ['n', 'n/.cache', 'm']) s.mkdir(dir);
    s.create('n/.cache/f', 'f');
    s.create('n/g', 'g');
    s.create('m/g', 'g');
    s.write('src/x', 'X');
    s.write('src/.cache/b', 'B');
    s.unlink('dist/old');
    discard(s);
    expect(changes(s)).toEqual([]);
    expect(s.tree()).toMatchObject({ 'n/.cache/f': expect.anything(), 'src/x': 'x', 'src/.cache/b': 'B' });
    expect([s.exists('n/g'), s.exists('m'), s.exists('dist/old')]).toEqual([false, false, false]);
    discard(s, [''], { scratch: true });
    expect(s.tree()).toEqual(sandbox().tree());
  });

  it('leaves what is excluded', () => {
    const s = sandbox();
    s.write('a', 'A');
    s.write('src/x', 'X');
    s.create('src/y', 'y');
    discard(s, [''], { exclude: ['src/y', 'a'] });
    expect(changes(s)).toEqual(['M a', '+ src/y']);
    discard(s, ['src']);
    expect(changes(s)).toEqual(['M a']);
  });

  it('reverts a renamed directory, and what was removed with a scratch directory, as a whole', () => {
    const s = sandbox();
    s.create('src/.cache/own', 'o');
    s.rename('src', 'moved');
    s.unlink('dist/old');
    s.unlink('dist/keep/k');
    s.rmdir('dist/keep');
    s.rmdir('dist');
    discard(s);
    expect(s.tree()).toEqual(sandbox().tree());
  });

  it('examines only the directories at and above its paths', () => {
    const s = sandbox();
    s.mkdir('many');
    for (let index = 0; index < 500; index++) s.create(`many/${index}`, '');
    s.write('src/x', 'X');
    const revert = s.fs.begin('revert', ['sb_1', [fromText('src')], { exclude: ['**/*.log'], scratch: false }])!;
    let steps = 0;
    while (!revert.next().done) steps++;
    expect(steps).toBeLessThan(200);
    expect([s.read('src/x'), s.exists('many/7')]).toEqual(['x', true]);
  });

  it('is all or nothing for a path in a renamed directory', () => {
    const s = sandbox();
    s.rename('src', 'moved');
    expect(() => discard(s, ['moved/x'])).toThrow('is inside "moved"');
  });
});
