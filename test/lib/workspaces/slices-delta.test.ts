import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { fromText, ROOT_PATH } from '../../../lib/byte-string.ts';
import { complete } from '../../../lib/fuse/connection/steps.ts';
import { CurrentWorkspace } from '../../../lib/workspaces/current-workspace.ts';
import { Node } from '../../../lib/workspaces/nodes/node.ts';
import { EVERYTHING } from './own-directories.ts';
import { ALL_WRITE, outcome, rule, type Sandbox } from './sandbox.ts';
import { begin, count, postponedBy, restart, sliced, take } from './stepping.ts';

const FILES = 400;
const NAMES = Array.from({ length: FILES }, (_, n) => `f${n}`);

describe('the compaction of a journal', () => {
  const TARGET = 'x'.repeat(4000);
  const grown = () => {
    const made = sliced();
    const root = made.s.id('');
    let links = 0;
    while (made.started.length === 0)
      made.s.fs.symlink(made.s.caller, root, fromText(`l${links++}`), Buffer.from(TARGET));
    return { ...made, links };
  };

  it('runs a step at a time, while only its own sandbox waits', () => {
    const { s, started, released } = grown();
    s.fs.attach({ ...s.spec, id: 'sb_2', delta: `${s.spec.delta}-2` });
    expect(take(started[0]!, 10)).toBe(false);
    const cause = postponedBy(() => s.create('another'));
    expect(postponedBy(() => s.fs.syncAll())).toBe(cause);
    const root = s.fs.lookup(s.caller, 1, fromText('sb_2'))!.nodeid;
    s.fs.create(s.caller, root, fromText('meanwhile'), 0o644, 0);
    expect(count(started[0]!)).toBeGreaterThan(100);
    expect(released).toEqual([cause]);
    s.create('another');
    const before = s.list('');
    s.fs.detach('sb_2');
    restart(s, started);
    expect(s.list('')).toEqual(before);
  });

  it('loses no record if the server ends at any step', () => {
    const { s, started, links } = grown();
    for (const steps of [1, 90, 60]) {
      take(started[0]!, steps);
      restart(s, started);
      expect(s.list('').length).toBe(links);
      expect(s.readlink(`l${links - 1}`)).toBe(TARGET);
    }
  });
});

describe('a record of many operations', () => {
  const base = Object.fromEntries(NAMES.map((name) => [`d/${name}`, 'base']));

  it('is written completely or not at all if the server ends at any step', () => {
    const { s, started } = sliced(base);
    const shown = () => new Set(NAMES.filter((_, n) => n % 50 === 0).map((name) => s.read(`d/${name}`)));
    for (const name of NAMES) s.write(`d/${name}`, 'changed');
    let partly = false;
    for (let steps = 40, ended = false; !ended; steps += 5) {
      ended = take(begin(s, 'revert', 'sb_1', ['']), steps);
      partly ||= !readFileSync(`${s.spec.delta}/journal`, 'latin1').endsWith('\n');
      restart(s, started);
      const found = [...shown()];
      expect(found.length).toBe(1);
      if (found[0] === 'base') break;
    }
    expect(partly).toBe(true);
    expect([...shown()]).toEqual(['base']);
  });

  it('rebases a stopped sandbox a step at a time, and a start waits meanwhile', () => {
    const { s } = sliced(base);
    for (const name of NAMES) s.write(`d/${name}`, 'changed');
    const settled = [{ path: 'd' }, ...NAMES.map((name) => ({ path: `d/${name}` }))];
    s.fs.detach('sb_1');
    for (const name of NAMES) s.putBase(`d/${name}`, 'changed');
    const steps = begin(s, 'rebase', s.spec, { commit: 'c', stage: 0, paths: settled, revertPaths: [], resumed: true });
    expect(take(steps, FILES)).toBe(false);
    postponedBy(() => s.fs.attach(s.spec));
    complete(steps);
    s.fs.attach(s.spec);
    expect(complete(begin(s, 'changes', 'sb_1', '', 10))).toMatchObject({ changes: [] });
  });
});

it('the rebase after a crash compares a large file in steps', () => {
  const { s } = sliced({ large: 'base' });
  const committed = 'committed '.repeat(30_000);
  s.write('large', committed);
  s.putBase('large', committed);
  const settled = [{ path: fromText('large') }];
  const steps = begin(s, 'rebase', s.spec, { commit: 'c', stage: 0, paths: settled, revertPaths: [], resumed: true });
  expect(count(steps)).toBeGreaterThan(committed.length / 65_536);
  expect(s.fs.changes('sb_1', fromText(''), 10).changes).toEqual([]);
});

describe('an archive with many members', () => {
  const mtime = { sec: 1, nsec: 0 };
  const members = NAMES.map((name, n) => ({ path: `d${n % 5}/${name}`, type: 'symlink', target: name, mtime }));
  const unpack = (s: Sandbox, added = members) => {
    const handle = s.fs.files('sb_1', 'owner', 'beginUnpack', ['']);
    complete(begin(s, 'files', 'sb_1', 'owner', 'addMembers', [handle, added, new Uint8Array(0)]));
    return begin(s, 'files', 'sb_1', 'owner', 'unpack', [handle, '']);
  };

  it('is unpacked a step at a time, while its sandbox waits', () => {
    const { s, released } = sliced({ 'd0/f0': 'base' });
    const steps = unpack(s);
    take(steps, 3);
    const cause = postponedBy(() => s.create('another'));
    expect(count(steps)).toBeGreaterThan((3 * FILES) / 16);
    expect(released.at(-1)).toBe(cause);
    expect([s.readlink('d0/f0'), s.readlink('d4/f399'), s.list('d3').length]).toEqual(['f0', 'f399', FILES / 5]);
  });

  it('is there whole or not at all when the server ends at any step, and when a member is refused', () => {
    const { s, started } = sliced({ 'd0/f0': 'base' });
    const refused = [...members, { path: 'd0/f0/below', type: 'symlink', target: 'x', mtime }];
    expect(() => complete(unpack(s, refused))).toThrow(/d0\/f0\/below/);
    const found: number[] = [];
    for (const steps of [40, 55, 130]) {
      take(unpack(s), steps);
      restart(s, started);
      found.push(s.exists('d4') ? s.list('d4').length : 0);
    }
    expect(found).toEqual([0, 0, FILES / 5]);
    expect(s.readlink('d0/f0')).toBe('f0');
  });

  it('gets its contents with the names, and shares those of hard links', () => {
    const { s } = sliced({ old: 'base' });
    const file = { type: 'file', mode: 0o750, mtime, size: 3, at: 1 };
    const added = [
      { ...file, path: 'old' },
      { ...file, path: 'f' },
      { path: 'l', type: 'link', target: 'f' },
    ];
    const handle = s.fs.files('sb_1', 'owner', 'beginUnpack', ['']);
    complete(begin(s, 'files', 'sb_1', 'owner', 'addMembers', [handle, added, Buffer.from('xabc')]));
    expect([s.read('old'), s.exists('f')]).toEqual(['base', false]);
    const counts = complete(begin(s, 'files', 'sb_1', 'owner', 'unpack', [handle, '']));
    expect(counts).toEqual({ files: 3, directories: 0, symlinks: 0, size: 6 });
    expect([s.read('old'), s.read('f'), s.stat('l').nlink, s.stat('f').mode & 0o777]).toEqual(['abc', 'abc', 2, 0o750]);
  });

  it('is refused after a checkpoint, which does not have its contents', () => {
    const { s } = sliced({ kept: 'base' });
    const handle = s.fs.files('sb_1', 'owner', 'beginUnpack', ['']);
    const added = [{ path: 'f', type: 'file', mode: 0o644, mtime, size: 3, at: 0 }];
    complete(begin(s, 'files', 'sb_1', 'owner', 'addMembers', [handle, added, Buffer.from('abc')]));
    complete(begin(s, 'freeze', 'sb_1'));
    expect(() => complete(begin(s, 'files', 'sb_1', 'owner', 'unpack', [handle, '']))).toThrow(/checkpoint.*try again/);
    complete(begin(s, 'files', 'sb_1', 'owner', 'dropUnpack', [handle]));
    expect(s.exists('f')).toBe(false);
  });
});

describe('directories that a sandbox renamed', () => {
  it('are found, and preserve removed codebase files, a step at a time', () => {
    const base = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`d${n}/sub/f`, `${n}`]));
    const { s } = sliced(base);
    for (let n = 0; n < 100; n++) s.rename(`d${n}`, `e${n}`);
    const stepsWith = (withOwn: boolean) =>
      count(begin(s, 'changes', 'sb_1', ROOT_PATH, 0, { ...EVERYTHING, withOwn }));
    expect(stepsWith(true) - stepsWith(false)).toBeGreaterThan(5);
    const removed = Array.from({ length: 100 }, (_, n) => [`d${n}/sub/f`, `d${n}/sub`, `d${n}`]).flat();
    const steps = begin(s, 'preserveRemoved', s.spec, removed);
    take(steps, 50);
    postponedBy(() => s.stat('e1'));
    expect(count(steps)).toBeGreaterThan(100);
    for (const n of [0, 99]) expect(s.read(`e${n}/sub/f`)).toBe(`${n}`);
  });
});

describe('the workspace that is recorded during a step', () => {
  it('is that of the step', () => {
    const current = new CurrentWorkspace();
    const { s } = sliced({ 'd/f': '' }, { current });
    s.fs.attach({ ...s.spec, id: 'sb_2', delta: `${s.spec.delta}-2`, rules: ALL_WRITE });
    s.stat('d/f');
    s.fs.lookup(s.caller, 1, fromText('sb_2'));
    const named = new Set<string | undefined>();
    const steps = begin(s, 'baseChanged', 'cb_1', ['d']);
    for (let done = false; !done; ) {
      current.clear();
      done = steps.next().done === true;
      named.add(current.id);
    }
    expect([...named]).toEqual(['sb_1', 'sb_2']);
    s.fs.detach('sb_2');
  });
});

describe('a file with many names', () => {
  const LINKS = 1000;

  it('has its level computed once for new rules, and for each new name in the kernel', () => {
    const { s } = sliced();
    s.create('f0');
    for (let n = 1; n < LINKS; n++) s.link('f0', `f${n}`);
    const asked = vi.spyOn(Node.prototype, 'agentRuleOf');
    onTestFinished(() => asked.mockRestore());
    s.forgetAll();
    s.list('');
    for (let n = 0; n < LINKS; n++) s.stat(`f${n}`);
    expect(asked.mock.calls.length).toBeLessThan(16 * LINKS);
    asked.mockClear();
    const steps = begin(s, 'setRules', 'sb_1', [rule('/**', 'WRITE'), rule('/f7', 'READ', 1)]);
    expect(count(steps)).toBeGreaterThan(LINKS / 64);
    expect(asked.mock.calls.length).toBeLessThan(4 * LINKS);
    for (const n of [0, 7, LINKS - 1]) expect(outcome(() => s.write(`f${n}`, 'x'))).toBe('EACCES');
  });
});

describe('the first use of a sandbox with many changes', () => {
  const changed = () => {
    const made = sliced({}, {}, { layers: true });
    const root = made.s.id('');
    for (const name of NAMES) made.s.fs.create(made.s.caller, root, fromText(name), 0o644, 0);
    return made;
  };

  it('waits for its journal to be read a step at a time, while others are served', () => {
    const { s, started, released } = changed();
    for (const steps of [1, 30]) {
      s.restart();
      const cause = postponedBy(() => s.id(''));
      expect(postponedBy(() => s.fs.usage('sb_1'))).toBe(cause);
      s.fs.attach({ ...s.spec, id: 'sb_2', delta: `${s.spec.delta}-2` });
      const root = s.fs.lookup(s.caller, 1, fromText('sb_2'))!.nodeid;
      s.fs.create(s.caller, root, fromText(`meanwhile ${steps}`), 0o644, 0);
      take(started.at(-1)!, steps);
      s.fs.detach('sb_2');
      if (steps === 1) continue;
      expect(count(started.at(-1)!)).toBeGreaterThan(FILES / 16);
      expect(released.at(-1)).toBe(cause);
      expect(s.list('').length).toBe(FILES);
    }
  });

  it('fails after the wait if the journal is damaged', () => {
    const { s, started } = sliced();
    const root = s.id('');
    for (let n = 0; n < 1400; n++) s.fs.create(s.caller, root, fromText(`${n}`.padEnd(250, 'x')), 0o644, 0);
    const path = `${s.spec.delta}/journal`;
    writeFileSync(path, readFileSync(path, 'latin1').replaceAll('"1399x', '"1398x'), 'latin1');
    restart(s, started);
    expect(() => s.id('')).toThrow(/line 1401 does not match its checksum/);
  });

  it('reads the index of a checkpoint once for all waiting forks', () => {
    const { s, started } = changed();
    const { layer } = s.fs.freeze('sb_1');
    s.restart();
    const forks = ['sb_2', 'sb_3', 'sb_4'].map((id) => ({
      ...s.spec,
      id,
      delta: `${s.spec.delta}-${id}`,
      origin: layer,
    }));
    for (const fork of forks) s.fs.attach(fork);
    for (const { id } of forks) postponedBy(() => s.fs.usage(id));
    const waiting = new Set(started);
    let steps = 0;
    while (waiting.size > 0) {
      for (const each of waiting) {
        if (each.next().done) waiting.delete(each);
        steps++;
      }
    }
    expect(steps).toBeLessThan(FILES / 2);
    for (const { id } of forks) {
      expect(s.fs.usage(id).files).toBe(FILES + 1);
      s.fs.detach(id);
    }
  });
});
