import { describe, expect, it } from 'vitest';
import { fromText, ROOT_PATH } from '../../../lib/byte-string.ts';
import { complete, type Steps } from '../../../lib/fuse/connection/steps.ts';
import { Tasks } from '../../../lib/fuse/connection/tasks.ts';
import { AnsweredLater } from '../../../lib/fuse/filesystem.ts';
import type { ChangePage } from '../../../lib/workspaces/workspaces.ts';
import { outcome, rule, Sandbox } from './sandbox.ts';
import { count, postponedBy } from './stepping.ts';

const FILES = 2200;

function names(count: number): string[] {
  return Array.from({ length: count }, (_, n) => `f${n}`);
}

/** A sandbox; the test runs the steps of its long operations. */
function sliced(base: Record<string, string> = {}, rules = [rule('/**', 'WRITE')]) {
  const started: Steps<unknown>[] = [];
  const released: number[] = [];
  const s = new Sandbox(
    base,
    { rules },
    { startSteps: (steps) => started.push(steps), released: (cause) => released.push(cause) },
  );
  return { s, started, released };
}

describe('a listing of many changes', () => {
  it('returns pages, a step at a time, of the sandbox’s state at its beginning', () => {
    const { s, released } = sliced();
    for (const name of names(FILES)) s.create(name, 'x');
    const steps = s.fs.begin('changes', ['sb_1', '', 100_000]) as Steps<ChangePage, ChangePage>;
    steps.next();
    const cause = postponedBy(() => s.create('another'));
    expect(postponedBy(() => s.fs.usage('sb_1'))).toBe(cause);
    let told = 0;
    let taken = 0;
    for (let next = steps.next(); ; next = steps.next(), taken++) {
      const page = next.value;
      expect(page?.changes.length ?? 0).toBeLessThanOrEqual(256);
      told += page?.changes.length ?? 0;
      if (next.done) break;
    }
    expect(told).toBe(FILES);
    expect(taken).toBeGreaterThan(FILES / 2);
    expect(released).toEqual([cause]);
    s.create('another');
    expect(s.fs.changes('sb_1', ROOT_PATH, 100_000).changes.length).toBe(FILES + 1);
  });

  it('compares large contents in blocks', () => {
    const content = 'x'.repeat(1 << 20);
    const { s } = sliced({ large: content });
    s.write('large', 'x');
    expect(count(s.fs.begin('changes', ['sb_1', '', 10])!)).toBeGreaterThan(16);
  });
});

describe('a rename of a large directory whose entries must be checked against the rules', () => {
  const RULES = [rule('/**', 'WRITE'), rule('**/secret', 'NONE', 1)];

  it('runs in steps, while only its own sandbox waits', () => {
    const { s, started, released } = sliced({}, RULES);
    const other = { ...s.spec, id: 'sb_2', delta: `${s.spec.delta}-2` };
    s.fs.attach(other);
    s.mkdir('d');
    for (const name of names(FILES)) s.create(`d/${name}`);
    const cause = postponedBy(() => s.rename('d', 'e'));
    expect(postponedBy(() => s.id('d'))).toBe(cause);
    const root = s.fs.lookup(s.caller, 1, fromText('sb_2'))!.nodeid;
    s.fs.create(s.caller, root, fromText('meanwhile'), 0o644, 0);
    expect(released).toEqual([]);
    expect(count(started[0]!)).toBeGreaterThan(1);
    expect(released).toEqual([cause]);
    s.rename('d', 'e');
    expect(s.list('e').length).toBe(FILES);
    s.fs.detach('sb_2');
  });

  it('by the owner applies the rules of the new path a step at a time, while its sandbox waits', () => {
    const { s, released } = sliced({}, [rule('/**', 'WRITE'), rule('e/**', 'READ', 1)]);
    s.mkdir('d');
    for (const name of names(FILES)) s.create(`d/${name}`);
    const steps = s.fs.begin('files', ['sb_1', 'owner', 'move', ['d', 'e', false]])!;
    const cause = postponedBy(() => s.stat('e/f1'));
    expect(count(steps)).toBeGreaterThan(FILES / 64);
    expect(released).toEqual([cause]);
    expect(outcome(() => s.write('e/f1', 'x'))).toBe('EACCES');
  });

  it('is refused after the wait if an entry may not be moved', () => {
    const { s, started } = sliced(
      Object.fromEntries([...names(FILES), 'secret'].map((name) => [`d/${name}`, ''])),
      RULES,
    );
    postponedBy(() => s.rename('d', 'e'));
    complete(started[0]!);
    expect(outcome(() => s.rename('d', 'e'))).toBe('EACCES');
  });

  it('repeats the check if an entry changed meanwhile', () => {
    const { s, started } = sliced({}, RULES);
    s.mkdir('d');
    for (const name of names(FILES)) s.create(`d/${name}`);
    postponedBy(() => s.rename('d', 'e'));
    complete(started[0]!);
    s.create('d/another');
    postponedBy(() => s.rename('d', 'e'));
    complete(started[1]!);
    s.rename('d', 'e');
  });

  it('drops nodes that the kernel forgot meanwhile', () => {
    const { s, started } = sliced({}, RULES);
    s.mkdir('d');
    for (const name of names(FILES)) s.create(`d/${name}`);
    postponedBy(() => s.rename('d', 'e'));
    s.forgetAll();
    complete(started[0]!);
    // The directory has another node now.
    postponedBy(() => s.rename('d', 'e'));
    complete(started[1]!);
    s.rename('d', 'e');
    expect(s.list('e').length).toBe(FILES);
  });
});

describe('a rename of a directory with many known entries', () => {
  const MANY = 4000;
  const known = (answers: [number, number][] = []) => {
    const started: Steps<unknown>[] = [];
    const s = new Sandbox(
      {},
      { rules: [rule('/**', 'WRITE'), rule('e/sub/*', 'READ', 1)] },
      {
        startSteps: (steps) => started.push(steps),
        answer: (cause, error) => answers.push([cause, error?.errno ?? 0]),
      },
    );
    s.mkdir('d');
    s.mkdir('d/sub');
    for (const name of names(MANY)) s.create(`d/${name}`);
    return { s, started };
  };
  const answeredLater = (act: () => unknown) => {
    try {
      act();
    } catch (thrown) {
      if (thrown instanceof AnsweredLater) return thrown.cause;
      throw thrown;
    }
    throw new Error('it was answered at once');
  };

  it('is answered when the rules of the new path apply to all of them, and only its sandbox waits', () => {
    const answers: [number, number][] = [];
    const { s, started } = known(answers);
    s.fs.attach({ ...s.spec, id: 'sb_2', delta: `${s.spec.delta}-2` });
    postponedBy(() => s.rename('d', 'e'));
    complete(started.shift()!);
    const cause = answeredLater(() => s.rename('d', 'e'));
    expect(postponedBy(() => s.stat('e'))).toBe(cause);
    const root = s.fs.lookup(s.caller, 1, fromText('sb_2'))!.nodeid;
    s.fs.create(s.caller, root, fromText('meanwhile'), 0o644, 0);
    expect(answers).toEqual([]);
    expect(count(started[0]!)).toBeGreaterThan(1);
    expect(answers).toEqual([[cause, 0]]);
    expect(s.exists('d')).toBe(false);
    expect(s.list('e')).toHaveLength(MANY + 1);
    expect(outcome(() => s.create('e/sub/new'))).toBe('EACCES');
    s.fs.detach('sb_2');
  });

  it('by the file API is complete on return', () => {
    const { s, started } = known();
    const begun = () => s.fs.begin('files', ['sb_1', 'agent', 'move', ['d', 'e', false]])!;
    postponedBy(begun);
    complete(started.shift()!);
    const steps = begun();
    const cause = postponedBy(() => s.stat('e'));
    expect(count(steps)).toBeGreaterThan(16);
    expect(cause).toBeLessThan(0);
    expect(outcome(() => s.create('e/sub/new'))).toBe('EACCES');
  });
});

describe('an operation on a complete sandbox', () => {
  const base = Object.fromEntries(names(FILES).map((name) => [`d/${name}`, 'base']));
  const steps = (s: Sandbox, operation: string, ...args: unknown[]) => {
    const begun = s.fs.begin(operation, args);
    if (begun === undefined) throw new Error(`${operation} is done at once`);
    return begun;
  };

  it('runs a step at a time, while the kernel’s requests for the sandbox wait', () => {
    const { s, released } = sliced(base);
    const stage = {
      commit: 'c',
      stage: 0,
      paths: [{ path: 'd' }, ...names(FILES).map((name) => ({ path: `d/${name}` }))],
      revertPaths: [],
      resumed: false,
    };
    const { layer } = s.fs.freeze('sb_1');
    for (const name of names(FILES)) s.write(`d/${name}`, 'changed');
    for (const [operation, ...args] of [
      ['setRules', 'sb_1', [rule('/**', 'WRITE'), rule('**/f1', 'READ', 1)]],
      ['baseChanging', 'cb_1', ['d']],
      ['baseChanged', 'cb_1', ['d']],
      ['rebase', s.spec, stage],
      ['revert', 'sb_1', ['']],
      ['rollback', 'sb_1', layer],
      ['detach', 'sb_1'],
    ] as [Parameters<Sandbox['fs']['begin']>[0], ...unknown[]][]) {
      const begun = steps(s, operation, ...args);
      begun.next();
      const cause = postponedBy(() => s.stat('d/f1'));
      expect([operation, count(begun) > 16]).toEqual([operation, true]);
      expect(released.at(-1)).toBe(cause);
      if (operation !== 'detach')
        expect(s.read('d/f2')).toBe(operation === 'revert' || operation === 'rollback' ? 'base' : 'changed');
    }
    s.fs.attach(s.spec);
    expect(s.read('d/f2')).toBe('base');
  });
});

describe('long tasks of the request worker', () => {
  it('continue in turn, for some milliseconds each', () => {
    let now = 0;
    const tasks = new Tasks(() => now);
    const seen: string[] = [];
    function* steps(name: string, length: number): Steps<void> {
      for (let step = 0; step < length; step++) {
        now += 1;
        seen.push(name);
        yield;
      }
    }
    const done: string[] = [];
    for (const [name, length] of [
      ['a', 4],
      ['b', 3],
    ] as const) {
      const failed = (thrown: unknown) => {
        throw thrown;
      };
      tasks.begin({ steps: steps(name, length), part: () => undefined, done: () => done.push(name), failed });
    }
    while (tasks.size > 0) {
      tasks.run();
      expect(tasks.stepsInSlice).toBeLessThanOrEqual(3);
    }
    expect(seen.join('')).toBe('aabbaab');
    expect(done).toEqual(['b', 'a']);
  });
});

describe('many rules', () => {
  const RULES = Array.from({ length: 1000 }, (_, n) => rule(`d${n}/*.x`, 'WRITE'));

  it('are compiled in steps when the workspace is first used, with requests postponed', () => {
    const { s, started, released } = sliced({ 'd1/a.x': 'x' }, RULES);
    const cause = postponedBy(() => s.id('d1'));
    expect(count(started[0]!)).toBeGreaterThan(RULES.length / 64);
    expect(released).toEqual([cause]);
    expect(s.read('d1/a.x')).toBe('x');
  });

  it('take effect in steps', () => {
    const { s } = sliced({ 'd1/a.x': 'x' });
    s.id('d1/a.x');
    expect(count(s.fs.begin('setRules', ['sb_1', RULES])!)).toBeGreaterThan(3 * (RULES.length / 64));
    expect(s.read('d1/a.x')).toBe('x');
  });
});
