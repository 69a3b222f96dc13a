import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, readlinkSync, writeSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fromText } from '../../../lib/byte-string.ts';
import type { Steps } from '../../../lib/fuse/connection/steps.ts';
import { Tasks } from '../../../lib/fuse/connection/tasks.ts';
import { AnsweredLater } from '../../../lib/fuse/filesystem.ts';
import type { Errno } from '../../../lib/linux/errno.ts';
import type { BackgroundSync } from '../../../lib/workspaces/delta/contents/background-sync.ts';
import { syncNow } from '../../../lib/workspaces/delta/contents/background-sync.ts';
import { outcome, Sandbox } from './sandbox.ts';
import { begin, postponedBy } from './stepping.ts';

const { EIO } = constants.errno;

/** Sandboxes whose disk is as slow as the test says: it ends each sync, and runs the slices of long operations. */
function slowDisk() {
  const syncs: BackgroundSync[] = [];
  const answers = new Map<number, number>();
  const tasks = new Tasks();
  const results: unknown[] = [];
  const run = (steps: Steps<unknown>) =>
    tasks.begin({
      steps,
      part: () => undefined,
      done: (value) => results.push(value ?? 'done'),
      failed: (thrown) => results.push(thrown),
    });
  const s: Sandbox = new Sandbox(
    {},
    {},
    {
      startSync: (sync) => syncs.push(structuredClone(sync)),
      answer: (cause: number, error: Errno | undefined) => answers.set(cause, error?.errno ?? 0),
      startSteps: (steps) => tasks.add({ steps, part: () => {}, done: () => {}, failed: () => {} }),
      released: (cause) => tasks.release(cause),
    },
  );
  mkdirSync(join(s.home, 'layers'));
  s.goOn({ ...s.spec, layers: join(s.home, 'layers') });
  /** Ends the oldest sync: its file number `failing` cannot be synced. */
  const end = (failing = -1) => {
    const sync = syncs.shift()!;
    const errnos = syncNow(sync);
    s.fs.synced(
      sync.id,
      errnos.map((errno, index) => (index === failing ? EIO : errno)),
    );
  };
  const turn = () => {
    while (tasks.size > 0) tasks.run();
  };
  const fsync = (path: string, datasync = false): number => {
    try {
      s.fs.fsync(s.caller, s.id(path), datasync);
    } catch (thrown) {
      if (thrown instanceof AnsweredLater) return thrown.cause;
      throw thrown;
    }
    throw new Error('it was answered at once');
  };
  /** Another sandbox of the same mount. */
  const another = (id: string) => {
    const spec = { ...s.spec, id, delta: `${s.spec.delta}-${id}` };
    s.fs.attach(spec);
    return s.fs.lookup(s.caller, 1, fromText(id))!.nodeid;
  };
  return { s, syncs, answers, end, turn, fsync, another, run, results };
}

describe('a sync of a file on a slow disk', () => {
  it('is answered when file and journal are durable, and other requests before', () => {
    const { s, syncs, answers, end, fsync, another } = slowDisk();
    const other = another('sb_2');
    s.create('large', 'x'.repeat(70_000));
    const cause = fsync('large');
    expect(syncs).toHaveLength(1);
    expect(s.fs.lookup(s.caller, other, fromText('absent'))).toBeUndefined();
    s.create('meanwhile', 'too');
    expect(answers).toEqual(new Map());
    const paths = syncs[0]!.files.map(({ file }) => readPath(file));
    expect(paths[0]).toMatch(/\/layers\/sb_1\.[^/]+\/0\/\d+$/);
    expect(paths.slice(1)).toEqual([`${s.spec.delta}/journal`, s.spec.delta]);
    end();
    expect(answers).toEqual(new Map([[cause, 0]]));
    expect(readFileSync(`${s.spec.delta}/journal.mark`, 'latin1')).toMatch(/^0 [1-9]/);
  });

  it('leaves out a durable journal for fdatasync, and nothing is lost', () => {
    const { s, syncs, answers, end, fsync } = slowDisk();
    const synced = () => syncs[0]!.files.map(({ file }) => readPath(file).replace(/.*\/(\d+|journal)$/, '$1'));
    s.create('log', 'x'.repeat(70_000));
    fsync('log', true);
    expect(synced()).toEqual([expect.stringMatching(/^\d+$/), 'journal', s.spec.delta]);
    end();
    s.write('log', 'more', 70_000);
    const alone = fsync('log', true);
    expect(synced()).toEqual([expect.stringMatching(/^\d+$/)]);
    end(0);
    expect(answers.get(alone)).toBe(EIO);
    const again = fsync('log', true);
    end();
    expect(answers.get(again)).toBe(0);
    const withTimes = fsync('log');
    expect(synced()).toEqual([expect.stringMatching(/^\d+$/), 'journal']);
    end();
    expect(answers.get(withTimes)).toBe(0);
    s.write('log', 'last', 70_004);
    fsync('log', true);
    end();
    s.restart();
    expect(s.read('log').slice(70_000)).toBe('morelast');
    s.rename('log', 'other');
    fsync('other', true);
    expect(synced()).toContain('journal');
    end();
  });

  it('of a directory makes the journal durable, which has its entries', () => {
    const { s, syncs, answers, end, fsync } = slowDisk();
    s.create('a', 'x');
    s.rename('a', 'b');
    const cause = fsync('');
    expect(syncs[0]!.files.map(({ file }) => readPath(file))).toEqual([`${s.spec.delta}/journal`, s.spec.delta]);
    end(0);
    expect(answers.get(cause)).toBe(EIO);
    const again = fsync('');
    end();
    expect(answers.get(again)).toBe(0);
  });

  it('fails with the errno of its file, alone, and is tried again', () => {
    const { s, syncs, answers, end, fsync } = slowDisk();
    for (const name of ['first', 'a', 'b']) s.create(name, 'x'.repeat(70_000));
    fsync('first');
    const [a, b] = [fsync('a'), fsync('b')];
    end();
    end(0);
    expect([answers.get(a), answers.get(b)]).toEqual([EIO, 0]);
    const again = fsync('a');
    expect(syncs[0]!.files.map(({ file }) => readPath(file))).toHaveLength(2);
    end();
    expect(answers.get(again)).toBe(0);
  });

  it('fails with the errno of the journal', () => {
    const { s, answers, end, fsync } = slowDisk();
    s.create('a', 'x');
    const cause = fsync('a');
    end(1);
    expect(answers.get(cause)).toBe(EIO);
  });

  it('is made together with those that were requested during another one, each file once', () => {
    const { s, syncs, answers, end, fsync } = slowDisk();
    for (const name of ['a', 'b']) s.create(name, 'x'.repeat(70_000));
    const first = fsync('a');
    const later = [fsync('b'), fsync('a'), fsync('b')];
    expect(syncs).toHaveLength(1);
    end();
    expect([...answers.keys()]).toEqual([first]);
    expect(syncs).toHaveLength(1);
    expect(syncs[0]!.files).toHaveLength(3);
    end();
    expect([...answers.keys()].sort()).toEqual([...new Set([first, ...later])].sort());
    expect(syncs).toHaveLength(0);
  });

  it('of one sandbox is no more than one at a time, and of all sandboxes no more than two, in turns', () => {
    const { s, syncs, end, another } = slowDisk();
    const files = ['sb_2', 'sb_3', 'sb_4'].map((id) => {
      const root = another(id);
      return [0, 1].map((n) => s.fs.create(s.caller, root, fromText(`f${n}`), 0o644, 0).nodeid);
    });
    const request = (nodeid: number) => expect(() => s.fs.fsync(s.caller, nodeid, false)).toThrow(AnsweredLater);
    for (const [first] of files) request(first!);
    expect(syncs).toHaveLength(2);
    for (const [, second] of files) request(second!);
    const journals: string[] = [];
    while (syncs.length > 0) {
      expect(syncs.length).toBeLessThanOrEqual(2);
      journals.push(syncs[0]!.files.map(({ file }) => readPath(file)).find((path) => path.endsWith('/journal'))!);
      end();
    }
    expect(journals.map((path) => path.match(/sb_\d/)?.[0])).toEqual(['sb_2', 'sb_3', 'sb_4', 'sb_2', 'sb_3']);
  });

  it('keeps the slot of the synced contents until a later sync of the journal is complete', () => {
    const { s, end, fsync } = slowDisk();
    s.create('kept', 'this was synced');
    s.create('large', 'x'.repeat(70_000));
    fsync('kept');
    // Not durable yet, but it may be at any moment from now on.
    s.write('kept', 'THIS WAS SYNCED');
    s.create('next', 'another');
    end();
    s.create('then', 'a third one');
    expect(slabsOf(s)).toContain('this was synced');
    fsync('large');
    s.create('last', 'a fourth one');
    expect(slabsOf(s)).toContain('this was synced');
    end();
    s.create('reused', 'a fifth one, longer');
    expect(slabsOf(s)).not.toContain('this was synced');
  });
});

describe('a long operation that waits for a slow disk', () => {
  it.each([['freeze', 'sb_1'], ['detach', 'sb_1'], ['syncAll']] as const)(
    '%s: takes no turns, and other sandboxes are served',
    (operation, ...args) => {
      const { s, syncs, end, turn, another, run, results } = slowDisk();
      const other = operation === 'syncAll' ? undefined : another('sb_2');
      s.create('a', 'x'.repeat(70_000));
      run(begin(s, operation, ...args));
      for (let ended = 0; results.length === 0; ended++) {
        turn();
        expect(ended).toBeLessThan(10);
        expect(syncs).toHaveLength(1);
        postponedBy(() => s.stat('a'));
        if (other !== undefined) s.fs.create(s.caller, other, fromText(`f${ended}`), 0o644, 0);
        end();
        turn();
      }
      expect(results).toEqual([operation === 'freeze' ? expect.objectContaining({ files: 2 }) : 'done']);
    },
  );

  it('detach: begins none without a change', () => {
    const { s, syncs, turn, run, results } = slowDisk();
    expect(s.stat('')).toBeDefined();
    run(begin(s, 'detach', 'sb_1'));
    turn();
    expect([results, syncs]).toEqual([['done'], []]);
  });

  it.each(['freeze', 'detach'] as const)(
    '%s: comes after the sync under way, and before the next ones',
    (operation) => {
      const { s, syncs, answers, end, turn, fsync, run, results } = slowDisk();
      for (const name of ['a', 'b']) s.create(name, 'x'.repeat(70_000));
      const [first, second] = [fsync('a'), fsync('b')];
      run(begin(s, operation, 'sb_1'));
      turn();
      expect([answers.size, syncs.length]).toEqual([0, 1]);
      end();
      expect([...answers]).toEqual([[first, 0]]);
      while (results.length === 0) {
        turn();
        end();
        turn();
        if (results.length === 0) expect(answers.has(second)).toBe(false);
      }
      while (syncs.length > 0) end();
      expect(answers.get(second)).toBe(0);
    },
  );

  it('fails with the errno of the disk', () => {
    const { s, end, turn, run, results } = slowDisk();
    s.create('a', 'x'.repeat(70_000));
    run(begin(s, 'freeze', 'sb_1'));
    turn();
    end(0);
    turn();
    expect(results).toEqual([expect.objectContaining({ errno: EIO })]);
    expect(s.read('a')).toHaveLength(70_000);
  });
});

function readPath(file: number | string): string {
  return typeof file === 'string' ? file : readlinkSync(`/proc/self/fd/${file}`);
}

function slabsOf(s: Sandbox): string {
  const layer = readFileSync(`${s.spec.delta}/journal`, 'latin1').match(/sb_1\.[^"]+/)![0];
  return readFileSync(`${s.spec.layers}/${layer}/slab-4096`, 'latin1');
}

describe('durable contents that outgrow their slot', () => {
  /** A file of 60,000 bytes that is durable. */
  function durable() {
    const disk = slowDisk();
    disk.s.create('grows', 'x'.repeat(60_000));
    disk.fsync('grows');
    disk.end();
    return disk;
  }
  const append = ({ s }: ReturnType<typeof durable>) => s.write('grows', 'y'.repeat(10_000), 60_000);

  it('are recorded in a file only when the file is durable', () => {
    const disk = durable();
    const cause = postponedBy(() => append(disk));
    expect(postponedBy(() => append(disk))).toBe(cause);
    expect(disk.syncs).toHaveLength(1);
    expect(disk.s.read('grows')).toBe('x'.repeat(60_000));
    disk.end();
    append(disk);
    expect(disk.s.read('grows')).toBe('x'.repeat(60_000) + 'y'.repeat(10_000));
    disk.s.restart();
    expect(disk.s.read('grows')).toBe('x'.repeat(60_000) + 'y'.repeat(10_000));
  });

  it('are copied again if they changed meanwhile', () => {
    const disk = durable();
    postponedBy(() => append(disk));
    disk.s.write('grows', 'z');
    disk.end();
    append(disk);
    expect(disk.s.read('grows')).toBe(`z${'x'.repeat(59_999)}${'y'.repeat(10_000)}`);
  });

  it('stay in their slot if the file cannot be synced', () => {
    const disk = durable();
    postponedBy(() => append(disk));
    disk.end(0);
    expect(outcome(() => append(disk))).toBe('EIO');
    expect(disk.s.read('grows')).toBe('x'.repeat(60_000));
    disk.s.restart();
    expect(disk.s.read('grows')).toBe('x'.repeat(60_000));
  });

  it('leave no file behind if they are removed meanwhile', () => {
    const disk = durable();
    postponedBy(() => append(disk));
    disk.s.unlink('grows');
    disk.s.forgetAll();
    disk.end();
    const files = readdirSync(join(disk.s.home, 'layers'), { recursive: true, encoding: 'utf8' });
    expect(files.filter((path) => /\/\d+\/\d+$/.test(path))).toEqual([]);
  });
});

describe('durable contents that are moved to shorten a slab', () => {
  const SLOT = 65_536;
  const content = (n: number) => String(n).padEnd(60_000, '.');

  it('stay where they are until there is a free slot', () => {
    const { s, syncs, end, fsync } = slowDisk();
    for (let n = 0; n < 300; n++) s.create(`f${n}`, content(n));
    fsync('f299');
    while (syncs.length > 0) end();
    for (let n = 0; n < 280; n++) s.unlink(`f${n}`);
    s.forgetAll();
    // The journal on the disk has their slots.
    expect(syncs).toEqual([]);
  });

  it('are recorded when the slab is durable, unless they changed meanwhile', () => {
    const { s, syncs, end, fsync, turn } = slowDisk();
    const endAll = () => {
      while (syncs.length > 0) end();
    };
    for (let n = 0; n < 300; n++) s.create(`f${n}`, content(n));
    // Contents that were never durable are moved at once.
    for (const n of [297, 298, 299]) fsync(`f${n}`);
    endAll();
    for (let n = 0; n < 279; n++) s.unlink(`f${n}`);
    s.forgetAll();
    fsync('f297');
    endAll();
    s.unlink('f279');
    s.forgetAll();
    const [layer] = readdirSync(join(s.home, 'layers'));
    const slab = join(s.home, 'layers', layer!, `slab-${SLOT}`);
    expect(syncs.map(({ files }) => files.map(({ file }) => readPath(file)))).toEqual([[slab]]);
    endAll();
    // The journal no longer names the old slot.
    const fd = openSync(slab, 'r+');
    writeSync(fd, Buffer.alloc(60_000), 0, 60_000, 299 * SLOT);
    closeSync(fd);
    fsync('f297');
    endAll();
    s.unlink('f280');
    s.forgetAll();
    expect(syncs).toHaveLength(1);
    s.write('f298', 'new');
    endAll();
    s.restart();
    postponedBy(() => s.id(''));
    turn();
    expect(s.read('f299')).toBe(content(299));
    expect(s.read('f298')).toBe(content(298).replace('298', 'new'));
    expect(s.read('f297')).toBe(content(297));
  });
});
