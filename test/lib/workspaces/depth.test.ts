import { describe, expect, it } from 'vitest';
import { fromText } from '../../../lib/byte-string.ts';
import { ServiceError } from '../../../lib/errors.ts';
import { itOfLayers, outcome, Sandbox } from './sandbox.ts';

const ENAMETOOLONG = 'ENAMETOOLONG';
const LONG = 'x'.repeat(255);
/** A path of 4080 bytes including slashes; 16 bytes are left. */
const DEEPEST = Array.from({ length: 16 }, () => LONG.slice(0, 254)).join('/');

function makeDeep(s: Sandbox, path: string): string {
  let at = '';
  for (const name of path.split('/')) {
    at = at === '' ? name : `${at}/${name}`;
    s.mkdir(at);
  }
  return at;
}

function refusalOf(act: () => unknown): ServiceError {
  try {
    act();
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
  throw new Error('it was not refused');
}

describe('the length of a path from the root of the workspace', () => {
  it('is at most 4096 bytes for every new entry', () => {
    const s = new Sandbox({ file: 'f' });
    const deep = makeDeep(s, DEEPEST);
    const [fits, tooLong] = ['y'.repeat(16), 'y'.repeat(17)];
    for (const make of [
      (path: string) => s.mkdir(path),
      (path: string) => s.create(path),
      (path: string) => s.mkfifo(path),
      (path: string) => s.symlink('t', path),
      (path: string) => s.link('file', path),
    ]) {
      expect(outcome(() => make(`${deep}/${tooLong}`))).toBe(ENAMETOOLONG);
      expect(outcome(() => make(`${deep}/${fits}`))).not.toBe(ENAMETOOLONG);
      if (s.stat(`${deep}/${fits}`).mode >> 12 === 4) s.rmdir(`${deep}/${fits}`);
      else s.unlink(`${deep}/${fits}`);
    }
    expect(outcome(() => s.rename('file', `${deep}/${tooLong}`))).toBe(ENAMETOOLONG);
    s.rename('file', `${deep}/${fits}`);
  });

  it('limits the depth of directories', () => {
    const s = new Sandbox();
    let id = s.id('');
    let depth = 0;
    const refused = outcome(() => {
      for (; depth < 20_000; depth++) id = s.fs.mkdir(s.caller, id, fromText('d'), 0o755).nodeid;
    });
    expect(refused).toBe(ENAMETOOLONG);
    expect(depth).toBe(2048);
  });

  it('includes the entries below a moved directory, and no longer those at its old path', () => {
    const s = new Sandbox();
    const half = DEEPEST.slice(0, 8 * 255 - 1);
    const target = makeDeep(s, `a/${half}`);
    makeDeep(s, `b/${half}/more-than-fits`);
    expect(outcome(() => s.rename('b', `${target}/b`))).toBe(ENAMETOOLONG);
    s.restart();
    expect(outcome(() => s.rename('b', `${target}/b`))).toBe(ENAMETOOLONG);
    for (let path = `b/${half}/more-than-fits`; path !== 'b'; path = path.slice(0, path.lastIndexOf('/')))
      s.rmdir(path);
    s.rename('b', `${target}/b`);
    expect(s.exists(`${target}/b`)).toBe(true);
  });

  it('is checked by an exchange', () => {
    const s = new Sandbox();
    const half = DEEPEST.slice(0, 8 * 255 - 1);
    makeDeep(s, `a/${half}`);
    makeDeep(s, `b/${half}/${'c'.repeat(20)}`);
    s.mkdir(`a/${half}/e`);
    expect(outcome(() => s.rename('b', `a/${half}/e`, 2))).toBe(ENAMETOOLONG);
  });

  itOfLayers('is checked by archives, with an error that names the limit', () => {
    const s = new Sandbox();
    makeDeep(s, DEEPEST);
    const member = { type: 'directory', mode: 0o755, mtime: { sec: 1, nsec: 0 }, path: 'y/y/y/y/y/y/y/y/y' } as const;
    const handle = s.fs.files('sb_1', 'owner', 'beginUnpack', [DEEPEST]);
    s.fs.files('sb_1', 'owner', 'addMembers', [handle, [member], new Uint8Array(0)]);
    const { code, message } = refusalOf(() => s.fs.files('sb_1', 'owner', 'unpack', [handle, DEEPEST]));
    expect(code).toBe('INVALID_ARGUMENT');
    expect(message).toContain('4096');
    expect(s.list(DEEPEST)).toEqual([]);
  });
});
