import { beforeEach, describe, expect, it } from 'vitest';
import { fromText } from '../../../lib/byte-string.ts';
import { ServiceError } from '../../../lib/errors.ts';
import { silentLog } from '../../../lib/log.ts';
import { createWorkspaceMount, type WorkspaceMount } from '../../../lib/sandboxes/host/workspace-mount.ts';
import type { Workspaces } from '../../../lib/workspaces/mount-workspaces.ts';
import type { FileSystemExit } from '../../../lib/workspaces/workspaces.ts';

const SPEC = { id: 'sb', codebaseId: 'cb', base: '/b', delta: '/d', uid: 1, rules: [], maxBytes: 0, maxFiles: 0 };

let calls: string[];
let lost: string[];
let reportUnreadable: (id: string, reason: string) => void;
let dieNow: (death: FileSystemExit) => void;
let now: number;
let threads: Promise<unknown>;
let attaching: (id: string) => Promise<void>;
let mounting: () => Promise<void>;
let closing: () => Promise<void>;

beforeEach(() => {
  calls = [];
  lost = [];
  now = 0;
  threads = Promise.resolve();
  attaching = async () => {};
  mounting = async () => {};
  closing = async () => {};
});

function fakeWorkspaces(): Workspaces {
  const told = (name: string) => async (id: string) => void calls.push(`${name} ${id}`);
  const fake: Omit<Workspaces, 'call'> = {
    attach: async ({ id }) => {
      await attaching(id);
      return `/mnt/${id}`;
    },
    reserve: async (place) => `/mnt/${place}`,
    release: told('release'),
    detach: told('detach'),
    setRules: told('setRules'),
    baseChanging: async (id) => {
      await told('changing')(id);
      return [];
    },
    baseChanged: told('changed'),
    open: told('open'),
    changes: async () => ({ changes: [], more: false }),
    hasEntries: async () => false,
    contents: async () => [],
    redactedTexts: async () => ({}),
    revert: async () => 0,
    refusals: async () => [],
    shownFrom: async () => undefined,
    rebase: ({ id }) => told('rebase')(id),
    preserveRemoved: async () => false,
    pause: told('pause'),
    resume: told('resume'),
    findUnchanged: async () => ({ open: [], candidates: [] }),
    revertUnchanged: async () => undefined,
    freeze: async () => ({ layer: 'l', files: 0, bytes: 0 }),
    requireForkRoom: async () => undefined,
    setCheckpoints: async () => undefined,
    rollback: told('rollback'),
    layersRemoved: async () => undefined,
    compact: async () => 'kept',
    flush: async () => {},
    files: async () => {
      throw new Error('the fake has no files');
    },
    usage: async () => ({ bytes: 0, files: 0 }),
    threadsExited: threads,
    check: async () => {},
    exited: new Promise((resolve) => {
      dieNow = resolve;
    }),
    close: async () => {
      calls.push('close');
      await closing();
    },
  };
  return { ...fake, call: (operation, args) => Reflect.apply(Reflect.get(fake, operation), fake, args) };
}

function createUnobserved(): WorkspaceMount {
  return createWorkspaceMount({
    mount: async ({ unreadable }) => {
      calls.push('mount');
      reportUnreadable = unreadable;
      await mounting();
      return fakeWorkspaces();
    },
    log: silentLog,
    now: () => now,
  });
}

const mapped = async () => undefined;
const watched = async () => new Set<number>();

function create(): WorkspaceMount {
  const mount = createUnobserved();
  mount.subscribe({
    lost: (reason) => lost.push(reason),
    unreadable: (id, reason) => lost.push(`${id}: ${reason}`),
    mapped,
    watched,
  });
  return mount;
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('the workspace mount', () => {
  it('is mounted on demand, and once', async () => {
    const mount = create();
    await mount.baseChanging('cb', []);
    await mount.baseChanged('cb', []);
    await mount.detach('sb');
    expect(calls).toEqual([]);
    expect(await Promise.all([mount.attach(SPEC), mount.attach(SPEC)])).toEqual(['/mnt/sb', '/mnt/sb']);
    expect(calls).toEqual(['mount']);
  });

  it('has places while it is mounted, and mounts or waits for none', async () => {
    const mount = create();
    await expect(mount.reserve('place', 7)).rejects.toThrow('not mounted');
    await mount.release('place');
    expect(calls).toEqual([]);
    await mount.ready();
    expect(await mount.reserve('place', 7)).toBe('/mnt/place');
    await mount.close();
    await mount.release('place').catch(() => undefined);
  });

  it('passes on changes of the base once it is mounted', async () => {
    const mount = create();
    await mount.ready();
    await mount.baseChanging('cb', [fromText('a')]);
    await mount.baseChanged('cb', [fromText('a')]);
    expect(calls).toEqual(['mount', 'changing cb', 'changed cb']);
  });

  it('is retried at the next call after a failed mount', async () => {
    const mount = create();
    mounting = async () => {
      throw new ServiceError('FAILED_PRECONDITION', 'no /dev/fuse');
    };
    await expect(mount.attach(SPEC)).rejects.toThrow('no /dev/fuse');
    mounting = async () => {};
    await mount.attach(SPEC);
    expect(calls).toEqual(['mount', 'mount']);
  });

  it('that failed is reported, cleaned up, and only then remounted', async () => {
    const mount = create();
    await mount.ready();
    let put = () => {};
    closing = () =>
      new Promise((resolve) => {
        put = resolve;
      });
    dieNow({ reason: 'worker ended' });
    await settled();
    expect([lost, calls]).toEqual([['worker ended'], ['mount', 'close']]);
    const attached = mount.attach(SPEC);
    await settled();
    expect(calls).toEqual(['mount', 'close']);
    put();
    expect(await attached).toBe('/mnt/sb');
    expect(calls).toEqual(['mount', 'close', 'mount']);
  });

  it('that fails without an observer is remounted on demand', async () => {
    const mount = createUnobserved();
    await mount.ready();
    reportUnreadable('sb', 'its journal is damaged');
    dieNow({ reason: 'worker ended' });
    await settled();
    mount.subscribe({ lost: (reason) => lost.push(reason), unreadable: () => {}, mapped, watched });
    expect(await mount.attach(SPEC)).toBe('/mnt/sb');
    expect([lost, calls]).toEqual([[], ['mount', 'close', 'mount']]);
    dieNow({ reason: 'worker ended again' });
    await settled();
    expect(lost).toEqual(['worker ended again']);
  });

  it('notifies its observer of a workspace that cannot be read', async () => {
    const mount = create();
    await mount.attach(SPEC);
    reportUnreadable('sb', 'its journal is damaged');
    expect(lost).toEqual(['sb: its journal is damaged']);
  });

  it('holds a workspace until it is detached or the file system fails', async () => {
    const mount = create();
    await mount.attach(SPEC);
    expect(mount.holds('sb')).toBe(true);
    await mount.detach('sb');
    expect(mount.holds('sb')).toBe(false);
    await mount.attach(SPEC);
    dieNow({ reason: 'worker ended' });
    await settled();
    expect(mount.holds('sb')).toBe(false);
    await mount.detach('sb');
    expect(calls.filter((call) => call === 'detach sb')).toHaveLength(1);
  });

  it('that failed with attached workspaces is remounted at once, after its threads have exited', async () => {
    let ended = () => {};
    threads = new Promise<void>((resolve) => {
      ended = resolve;
    });
    const mount = create();
    await mount.attach(SPEC);
    dieNow({ reason: 'worker ended' });
    await settled();
    expect(calls).toEqual(['mount', 'close']);
    ended();
    await settled();
    expect(calls).toEqual(['mount', 'close', 'mount']);
  });

  it('repeats an attach that was in progress on the next mount', async () => {
    const mount = create();
    await mount.ready();
    attaching = async () => {
      attaching = async () => {};
      dieNow({ reason: 'worker ended' });
      throw new ServiceError('UNAVAILABLE', 'worker ended');
    };
    expect(await mount.attach(SPEC)).toBe('/mnt/sb');
    expect([calls, mount.holds('sb')]).toEqual([['mount', 'close', 'mount'], true]);
  });

  it('refuses the workspace that it served at two failures, for a while, and serves the others', async () => {
    const mount = create();
    for (let death = 0; death < 2; death++) {
      await mount.attach(SPEC);
      dieNow({ reason: 'the request worker ran out of memory', workspace: 'sb' });
      await settled();
    }
    expect(await mount.attach({ ...SPEC, id: 'other' })).toBe('/mnt/other');
    await expect(mount.attach(SPEC)).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message:
        'the workspace file system died 2 times while it served this sandbox (the request worker ran out of memory); it is tried again in 10 min at the earliest',
    });
    now = 600_000;
    expect(await mount.attach(SPEC)).toBe('/mnt/sb');
  });

  it('unmounts at close, and does not mount again', async () => {
    const mount = create();
    await mount.ready();
    await mount.close();
    expect(calls).toEqual(['mount', 'close']);
    await expect(mount.attach(SPEC)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });

  it('that is being mounted during close is closed, too', async () => {
    const mount = create();
    let proceed = () => {};
    mounting = () =>
      new Promise((resolve) => {
        proceed = resolve;
      });
    const attached = mount.attach(SPEC);
    await settled();
    const closed = mount.close();
    proceed();
    await Promise.all([attached, closed]);
    expect(calls).toEqual(['mount', 'close']);
  });
});
