import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type ByteString, fromText } from '../../../lib/byte-string.ts';
import { HostTree } from '../../../lib/host-tree/host-tree.ts';
import { rule, Sandbox } from './sandbox.ts';

const NAMES = Array.from({ length: 12 }, (_, n) => `n${String(n).padStart(2, '0')}`);
const FILES = Object.fromEntries(NAMES.map((name) => [`d/${name}`, name]));

let lookedUp: string[];

beforeEach(() => {
  lookedUp = [];
  const { lstatIn } = HostTree.prototype;
  vi.spyOn(HostTree.prototype, 'lstatIn').mockImplementation(function (this: HostTree, directory, name) {
    lookedUp.push(`${directory}/${name}`);
    return lstatIn.call(this, directory, name);
  });
});

afterEach(() => {
  vi.restoreAllMocks();
});

/** Lists up to `room` entries of `d` with their attributes, as one READDIRPLUS. Returns their sizes by name. */
function list(s: Sandbox, after: number, room: number): { cookie: number; sizes: Record<string, number> } {
  const sizes: Record<string, number> = {};
  let cookie = after;
  let left = room;
  s.fs.readdir(s.caller, s.id('d'), after, true, (name: ByteString, next, _ino, _type, entry) => {
    if (left-- === 0) return false;
    cookie = next;
    if (entry !== undefined) sizes[name] = entry.attr.size;
    return true;
  });
  return { cookie, sizes };
}

/** Lists the first names, with the two of the directory itself and its parent; one more is looked up and has no room. */
function begun(options: ConstructorParameters<typeof Sandbox>[1] = {}, base: Record<string, string> = FILES) {
  const s = new Sandbox(base, options);
  s.fs.workAhead();
  return { s, first: () => list(s, 0, 4) };
}

function workAhead(s: Sandbox): void {
  for (let steps = 0; s.fs.workAhead(); steps++) expect(steps).toBeLessThan(1000);
}

describe('attributes that are read ahead', () => {
  it('are those of the names after the last reply, and are read once', () => {
    const { s, first } = begun();
    const { cookie, sizes } = first();
    lookedUp = [];
    workAhead(s);
    const ahead = [...lookedUp].sort();
    expect(ahead.length).toBe(NAMES.length - Object.keys(sizes).length);
    const rest = list(s, cookie, 100).sizes;
    expect(lookedUp.length).toBe(ahead.length);
    expect({ ...sizes, ...rest }).toEqual(Object.fromEntries(NAMES.map((name) => [name, 3])));
  });

  it('are kept if the replies are short: only the name that has no room in a reply is read again', () => {
    const { s, first } = begun();
    let { cookie } = first();
    lookedUp = [];
    let replies = 0;
    for (let at = -1; at !== cookie; replies++) {
      workAhead(s);
      at = cookie;
      cookie = list(s, cookie, 2).cookie;
    }
    expect(lookedUp.length).toBeLessThan(new Set(lookedUp).size + replies);
    expect(replies).toBeGreaterThan(4);
  });

  it('are none of names that the rules hide, that the sandbox changed, or that the kernel knows', () => {
    const { s, first } = begun({ rules: [rule('/**', 'WRITE'), rule('/d/n*5', 'NONE', 1)] });
    s.write('d/n03', 'changed');
    s.unlink('d/n04');
    s.id('d/n06');
    const { cookie, sizes } = first();
    lookedUp = [];
    workAhead(s);
    for (const name of ['n03', 'n04', 'n05', 'n06', ...Object.keys(sizes)]) expect(lookedUp).not.toContain(`d/${name}`);
    const all = { ...sizes, ...list(s, cookie, 100).sizes };
    expect(Object.keys(all).sort()).toEqual(NAMES.filter((name) => name !== 'n04' && name !== 'n05'));
    expect(all.n03).toBe('changed'.length);
  });

  it('are not used after a change of the codebase, nor while one is in progress', () => {
    for (const ended of [true, false]) {
      const { s, first } = begun();
      const { cookie, sizes } = first();
      const name = NAMES.find((each) => !(each in sizes))!;
      workAhead(s);
      s.fs.baseChanging('cb_1', [fromText(`d/${name}`)]);
      s.putBase(`d/${name}`, 'a longer text');
      if (ended) s.fs.baseChanged('cb_1', [fromText(`d/${name}`)]);
      expect(list(s, cookie, 100).sizes[name]).toBe('a longer text'.length);
      if (!ended) s.fs.baseChanged('cb_1', [fromText(`d/${name}`)]);
    }
  });

  it('are not used later, and not for a directory of the same name', () => {
    const { s, first } = begun();
    const { cookie } = first();
    workAhead(s);
    lookedUp = [];
    s.rename('d', 'other');
    s.mkdir('d');
    expect(list(s, 0, 100).sizes).toEqual({});
    s.rmdir('d');
    s.rename('other', 'd');
    const now = performance.now();
    vi.spyOn(performance, 'now').mockReturnValue(now + 2000);
    list(s, cookie, 100);
    expect(lookedUp.length).toBeGreaterThan(3);
  });

  it('are not read after the sandbox was detached', () => {
    const { s, first } = begun();
    first();
    s.fs.detach('sb_1');
    lookedUp = [];
    workAhead(s);
    expect(lookedUp).toEqual([]);
    s.fs.attach(s.spec);
  });
});
