import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { fromText } from '../../../lib/byte-string.ts';
import type { Steps } from '../../../lib/fuse/connection/steps.ts';
import { EIO } from '../../../lib/linux/errno.ts';
import { Base } from '../../../lib/workspaces/base/base.ts';
import { Inode } from '../../../lib/workspaces/delta/index/inode.ts';
import type { Frozen } from '../../../lib/workspaces/workspaces.ts';
import type { Sandbox } from './sandbox.ts';
import { begin, count, postponedBy, restart, sliced, take } from './stepping.ts';

const FILES = 400;
const NAMES = Array.from({ length: FILES }, (_, n) => `f${n}`);

function changed() {
  const made = sliced({}, {}, { layers: true });
  for (const name of NAMES) made.s.create(name, 'first');
  return made;
}

/** Every tenth file, which is enough to distinguish states. */
function shown(s: Sandbox): string[] {
  const some = NAMES.filter((_, n) => n % 10 === 0);
  return [...new Set(some.map((name) => (s.exists(name) ? s.read(name) : 'removed')))];
}

describe('creating a checkpoint of many changes', () => {
  it('runs a step at a time, while its sandbox waits', () => {
    const { s, released } = changed();
    const freezing = begin(s, 'freeze', 'sb_1') as Steps<Frozen>;
    take(freezing, 2);
    const cause = postponedBy(() => s.write('f1', 'later'));
    const { steps, value } = finish(freezing);
    expect(steps).toBeGreaterThan(FILES / 64);
    expect(value).toMatchObject({ files: FILES + 1, bytes: FILES * 'first'.length });
    expect(released.at(-1)).toBe(cause);
    s.write('f1', 'later');
    s.fs.rollback('sb_1', value.layer);
    expect(s.read('f1')).toBe('first');
  });

  it('keeps all changes if the server ends at any step', () => {
    const { s, started } = changed();
    for (const steps of [1, 8, 14]) {
      take(begin(s, 'freeze', 'sb_1'), steps);
      restart(s, started);
      expect([s.list('').length, ...shown(s)]).toEqual([FILES, 'first']);
      s.write('f7', 'another');
      s.write('f7', 'first');
    }
  });

  it('records the times of many open written files a step at a time', () => {
    const { s } = sliced({}, {}, { layers: true });
    const content = 'x'.repeat(100_000);
    for (const name of NAMES.slice(0, 100)) s.create(name, content);
    for (const name of NAMES.slice(0, 100)) s.write(name, 'y');
    expect(count(begin(s, 'freeze', 'sb_1'))).toBeGreaterThan((2 * 100) / 16);
  });
});

describe('a rollback of many changes', () => {
  const checkpointed = () => {
    const made = changed();
    const { layer } = made.s.fs.freeze('sb_1');
    for (const name of NAMES.slice(0, 200)) made.s.write(name, 'second');
    for (const name of NAMES.slice(200)) made.s.unlink(name);
    return { ...made, layer };
  };

  it('runs a step at a time, while its sandbox waits', () => {
    const { s, layer, released } = checkpointed();
    const steps = begin(s, 'rollback', 'sb_1', layer);
    take(steps, 2);
    const cause = postponedBy(() => s.read('f1'));
    expect(count(steps)).toBeGreaterThan(FILES / 16);
    expect(released.at(-1)).toBe(cause);
    expect([s.list('').length, ...shown(s)]).toEqual([FILES, 'first']);
  });

  it('is complete or has no effect if the server ends at any step', () => {
    const { s, started, layer } = checkpointed();
    const found: string[] = [];
    for (const steps of [3, 6, 40]) {
      take(begin(s, 'rollback', 'sb_1', layer), steps);
      restart(s, started);
      const state = s.list('').length === FILES ? 'first' : 'second';
      expect(shown(s)).toEqual(state === 'first' ? ['first'] : ['second', 'removed']);
      found.push(state);
    }
    expect([found[0], found.at(-1)]).toEqual(['second', 'first']);
  });

  it('reads a checkpoint that is not in memory a step at a time, and changes nothing if it is damaged', () => {
    const { s, started, layer } = checkpointed();
    const later = s.fs.freeze('sb_1').layer;
    s.fs.rollback('sb_1', layer);
    restart(s, started);
    const index = `${s.spec.layers}/${later}/index`;
    const whole = readFileSync(index, 'latin1');
    writeFileSync(index, whole.replace('"f399"', '"f398"'), 'latin1');
    expect(() => count(begin(s, 'rollback', 'sb_1', later))).toThrow(/damaged/);
    expect([s.list('').length, ...shown(s)]).toEqual([FILES, 'first']);
    s.write('f0', 'third');
    writeFileSync(index, whole, 'latin1');
    expect(count(begin(s, 'rollback', 'sb_1', later))).toBeGreaterThan(FILES / 8);
    expect(shown(s)).toEqual(['second', 'removed']);
  });
});

describe('a dozen concurrent forks of many changes', () => {
  it('open at once and copy only the index entries that they use', () => {
    const { s, started } = changed();
    s.mkdir('sub');
    const { layer } = s.fs.freeze('sb_1');
    const copied = vi.spyOn(Inode, 'copyOf');
    onTestFinished(() => copied.mockRestore());
    const forks = Array.from({ length: 12 }, (_, n) => `fork_${n}`);
    for (const id of forks) s.fs.attach({ ...s.spec, id, delta: `${s.spec.delta}-${id}`, origin: layer });
    const use = (id: string) => {
      expect(s.fs.usage(id)).toMatchObject({ files: FILES + 2 });
      const root = s.fs.lookup(s.caller, 1, fromText(id))!.nodeid;
      const { nodeid } = s.fs.lookup(s.caller, root, fromText('f7'))!;
      s.fs.write(s.caller, nodeid, 0, Buffer.from(id), false);
    };
    for (const id of forks) use(id);
    // The root, the directory in it and the written file.
    expect(copied.mock.calls.length).toBeLessThanOrEqual(3 * forks.length);
    expect(started).toEqual([]);
    for (const id of forks) s.fs.detach(id);
  });

  it('examine their directories first if the codebase has changed since the freeze', () => {
    const { s, started } = changed();
    s.mkdir('sub');
    const { layer } = s.fs.freeze('sb_1');
    s.fs.baseChanging('cb_1', [fromText('other')]);
    s.putBase('other', '');
    s.fs.baseChanged('cb_1', [fromText('other')]);
    s.fs.attach({ ...s.spec, id: 'fork', delta: `${s.spec.delta}-fork`, origin: layer });
    postponedBy(() => s.fs.usage('fork'));
    expect(count(started.pop()!)).toBeLessThan(FILES / 8);
    s.fs.detach('fork');
  });

  it('examine their directories first if an error cut off what the sandbox was told of a change', () => {
    const { s, started } = changed();
    s.mkdir('sub');
    const lstat = vi.spyOn(Base.prototype, 'lstat');
    onTestFinished(() => lstat.mockRestore());
    lstat.mockImplementationOnce(() => {
      throw EIO;
    });
    expect(() => s.fs.baseChanged('cb_1', [fromText('sub')])).toThrow(EIO);
    const { layer } = s.fs.freeze('sb_1');
    s.fs.attach({ ...s.spec, id: 'fork', delta: `${s.spec.delta}-fork`, origin: layer });
    postponedBy(() => s.fs.usage('fork'));
    expect(count(started.pop()!)).toBeGreaterThan(0);
    s.fs.detach('fork');
  });
});

describe('layers that only one sandbox needs', () => {
  it('are absorbed a step at a time, and nothing is lost if the server ends at any step', () => {
    const { s, started } = changed();
    const layers = Array.from({ length: 33 }, (_, n) => {
      s.write('f0', `version ${n}`);
      return s.fs.freeze('sb_1').layer;
    });
    take(begin(s, 'compact', 'sb_1', layers, 100), 30);
    restart(s, started);
    expect([s.read('f0'), s.read('f1'), s.read('f399')]).toEqual(['version 32', 'first', 'first']);
    expect(count(begin(s, 'compact', 'sb_1', layers, FILES))).toBeGreaterThan(FILES / 16);
    restart(s, started);
    expect([s.read('f0'), s.read('f1'), s.read('f399')]).toEqual(['version 32', 'first', 'first']);
  });
});

function finish<T>(steps: Steps<T>): { steps: number; value: T } {
  for (let taken = 1; ; taken++) {
    const { done, value } = steps.next();
    if (done) return { steps: taken, value };
  }
}
