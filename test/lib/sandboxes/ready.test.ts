import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ResourceLimits } from '../../../lib/contract/messages.ts';
import { ServiceError } from '../../../lib/errors.ts';
import { silentLog } from '../../../lib/log.ts';
import type { ReadySandbox, RunningSandbox, SandboxSpec } from '../../../lib/runtime/runtime.ts';
import { UidSlots } from '../../../lib/sandboxes/host/uid-slots.ts';
import { Keep } from '../../../lib/sandboxes/ready/keep.ts';
import { kindOf, type ReadyKind } from '../../../lib/sandboxes/ready/kind.ts';
import { ReadySandboxes } from '../../../lib/sandboxes/ready/ready-sandboxes.ts';
import { createRequest, execRequest, FakeRuntime, Fixture, forkOf, NO_LIMITS } from './fixture.ts';

/** One that `FakeRuntime` launches when it is taken. */
class FakeReady implements ReadySandbox {
  fit = true;
  discarded = false;
  taken: SandboxSpec | undefined;
  readonly #fake: FakeSandboxes;

  constructor(fake: FakeSandboxes) {
    this.#fake = fake;
  }

  isFit(): boolean {
    return this.fit;
  }

  async take(spec: SandboxSpec): Promise<RunningSandbox> {
    if (this.#fake.refusing) throw new Error('refused');
    this.taken = spec;
    let die = (_reason: string) => {};
    const exited = new Promise<string>((resolve) => {
      die = resolve;
    });
    this.#fake.up.set(spec.id, { spec, commands: [], die });
    const stop = async () => void this.#fake.up.delete(spec.id);
    const exec = async () => (async function* () {})();
    return { exited, stop, exec } as unknown as RunningSandbox;
  }

  async discard(): Promise<void> {
    this.discarded = true;
    if (this.taken) this.#fake.up.delete(this.taken.id);
  }
}

class FakeSandboxes extends FakeRuntime {
  refusing = false;
  failing = false;
  readonly prepared: { made: FakeReady; uid: number; workspace: string; image: string; resources: ResourceLimits }[] =
    [];

  async prepare(spec: Pick<SandboxSpec, 'uid' | 'workspace' | 'image' | 'resources'>): Promise<ReadySandbox> {
    if (this.failing) throw new Error('no more');
    const made = new FakeReady(this);
    this.prepared.push({ ...spec, made });
    return made;
  }
}

let world: Fixture;
let runtime: FakeSandboxes;
let uids: UidSlots;
let places: Set<string>;
let ready: ReadySandboxes;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] });
  world = new Fixture();
  runtime = new FakeSandboxes();
  world.runtime = runtime;
  places = new Set();
  uids = new UidSlots({ start: 1000, size: 100 });
  ready = new ReadySandboxes({
    mount: {
      reserve: async (place) => {
        places.add(place);
        return `/mnt/${place}`;
      },
      release: async (place) => places.delete(place),
    },
    runtime: async () => runtime,
    uids,
    most: 4,
    log: silentLog,
    now: () => performance.now(),
  });
});
afterEach(async () => {
  vi.restoreAllMocks();
  vi.useRealTimers();
  await ready.close();
  world.remove();
});

const BWRAP: ReadyKind = { runtime: 'RUNTIME_BWRAP', image: '', resources: NO_LIMITS };
const DOCKER: ReadyKind = { ...BWRAP, runtime: 'RUNTIME_DOCKER', image: 'default' };

const take = (resources = NO_LIMITS, kind = BWRAP) => {
  const taken = ready.take({ ...kind, resources });
  void ready.creating(Promise.resolve(), { ...kind, resources });
  if (taken !== undefined) (taken.sandbox as FakeReady).taken = { id: 'sb' } as SandboxSpec;
  return taken;
};
/** Until as many were made as are kept. */
const idle = () => vi.advanceTimersByTimeAsync(200);
const present = () => runtime.prepared.filter(({ made }) => !made.discarded && made.taken === undefined);

describe('ready sandboxes', () => {
  it('are made after the first creation, each with a user and a place of its own, and taken once', async () => {
    await idle();
    expect(take({ ...NO_LIMITS, pids_limit: 9 })).toBeUndefined();
    expect(runtime.prepared).toEqual([]);
    await idle();
    expect(runtime.prepared.map(({ uid, resources }) => [uid, resources.pids_limit])).toEqual([
      [1000, 9],
      [1001, 9],
    ]);
    expect(new Set(runtime.prepared.map(({ workspace }) => workspace)).size).toBe(2);
    const limits = { ...NO_LIMITS, pids_limit: 8 };
    const all = [take(limits), take(limits), take(limits)];
    expect(all.map((each) => each?.uid)).toEqual([1000, 1001, undefined]);
    for (const place of places) expect(place).toMatch(/^[0-9a-f]{32}$/);
  });

  it('are for bwrap without an image and for Docker with the default one, without limits of an owner', async () => {
    take();
    await idle();
    expect(ready.take(undefined)).toBeUndefined();
    expect(ready.take(DOCKER)).toBeUndefined();
    expect(present()).toHaveLength(2);
    const ownerResources = (owner: string) =>
      owner === 'limited' ? { group: 'o', memory_bytes: 1, cpu_quota: 0 } : undefined;
    const server = { platform: { ownerResources }, settings: { defaultImage: 'default' } };
    const kinds = [
      { ...BWRAP, owner_id: 'me' },
      { ...BWRAP, image: 'im_1', owner_id: 'me' },
      { ...BWRAP, owner_id: 'limited' },
      { ...DOCKER, owner_id: 'me' },
      { ...DOCKER, image: 'of/a-user', owner_id: 'me' },
      { ...DOCKER, owner_id: 'limited' },
      { ...BWRAP, runtime: 'RUNTIME_MOCK' as const, owner_id: 'me' },
    ].map((each) => kindOf(each, server));
    expect(kinds).toEqual([BWRAP, undefined, undefined, DOCKER, undefined, undefined, undefined]);
  });

  it('are replaced by those for other kinds of limits; other values are no matter', async () => {
    take({ ...NO_LIMITS, pids_limit: 9 });
    await idle();
    expect(take({ ...NO_LIMITS, pids_limit: 8 })).toBeDefined();
    await idle();
    expect(take({ ...NO_LIMITS, cpu_quota: 8 })).toBeUndefined();
    await idle();
    expect(present().map(({ resources }) => resources)).toEqual(Array(3).fill({ ...NO_LIMITS, cpu_quota: 8 }));
  });

  it('are not used if they have ended, and their users are free again', async () => {
    take();
    await idle();
    for (const { made } of runtime.prepared) made.fit = false;
    expect(take()).toBeUndefined();
    await vi.advanceTimersByTimeAsync(0);
    expect(runtime.prepared.every(({ made }) => made.discarded)).toBe(true);
    expect(uids.free).toBe(100);
    expect(places.size).toBe(0);
  });

  it('are made while no call begins or ends, or after a quarter of a second', async () => {
    take();
    for (let call = 0; call < 48; call++) {
      ready.call();
      await vi.advanceTimersByTimeAsync(5);
      expect(runtime.prepared).toEqual([]);
    }
    for (let call = 0; call < 10; call++) {
      ready.call();
      await vi.advanceTimersByTimeAsync(5);
    }
    expect(runtime.prepared).toHaveLength(1);
  });

  it('end with the mount, when users become rare, and at the end of the server', async () => {
    take();
    await idle();
    ready.lost();
    await idle();
    expect(present()).toEqual([]);
    take();
    await idle();
    expect(present()).toHaveLength(2);
    const others = Array.from({ length: 91 }, () => uids.take()!);
    take();
    await idle();
    expect(present()).toEqual([]);
    for (const uid of others) uids.release(uid);
    take();
    await idle();
    expect(present()).toHaveLength(4);
    await ready.close();
    expect(present()).toEqual([]);
    expect(take()).toBeUndefined();
  });

  it('make room for a creation that failed', async () => {
    take();
    await idle();
    await expect(ready.creating(Promise.reject(new Error('no descriptor')), BWRAP)).rejects.toThrow('no descriptor');
    expect(present()).toEqual([]);
  });

  it('stay after a creation that failed because of its request, for whose image none is made', async () => {
    take();
    await idle();
    const refused = new ServiceError(
      'NOT_FOUND',
      'image "no/such": the Docker daemon neither has it nor could pull it',
    );
    await expect(ready.creating(Promise.reject(refused), DOCKER)).rejects.toThrow('no/such');
    await idle();
    expect(present().map(({ image }) => image)).toEqual(['', '']);
  });

  it('of two runtimes are together as many as the maximum', async () => {
    const images = () => present().map(({ image }) => image);
    take(NO_LIMITS, DOCKER);
    await idle();
    expect(images()).toEqual(['default', 'default']);
    for (let count = 0; count < 4; count++) take(NO_LIMITS, DOCKER);
    await idle();
    expect(images()).toEqual(Array(4).fill('default'));
    // In proportion to the creations of each, of which there are as many as the maximum.
    for (let count = 0; count < 4; count++) take();
    await idle();
    expect(images().sort()).toEqual(['', '', 'default', 'default']);
    expect(take(NO_LIMITS, DOCKER)).toBeDefined();
    expect(take()).toBeDefined();
  });

  it('are tried again later and later after failures, which leave nothing', async () => {
    const tried = vi.spyOn(runtime, 'prepare');
    runtime.failing = true;
    take();
    await vi.advanceTimersByTimeAsync(8000);
    expect(tried.mock.calls.length).toBe(4);
    expect([uids.free, places.size]).toEqual([100, 0]);
    runtime.failing = false;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(present()).toHaveLength(2);
  });

  it('are replaced in the background if they die, and none are kept after minutes without a creation', async () => {
    take();
    await idle();
    runtime.prepared[0]!.made.fit = false;
    await vi.advanceTimersByTimeAsync(6000);
    expect(present()).toHaveLength(2);
    expect(runtime.prepared[0]!.made.discarded).toBe(true);
    await vi.advanceTimersByTimeAsync(620_000);
    expect(present()).toEqual([]);
    expect(uids.free).toBe(100);
  });
});

it('the number of ready sandboxes follows the creations of the last seconds, within bounds', () => {
  const keep = new Keep(8);
  expect(keep.number(0)).toBe(0);
  keep.created(0);
  expect(keep.number(1)).toBe(2);
  for (let at = 1; at <= 5; at++) keep.created(at);
  expect(keep.number(6)).toBe(6);
  for (let at = 10; at <= 40; at++) keep.created(at);
  expect(keep.number(41)).toBe(8);
  expect(keep.number(10_100)).toBe(2);
  expect(keep.number(600_041)).toBe(0);
});

describe('a creation', () => {
  async function server() {
    vi.useRealTimers();
    world.ready = ready;
    world.uids = { start: 5000, size: 100 };
    const sandboxes = await world.start();
    await world.addCodebase();
    return sandboxes;
  }

  /** Makes one ready by a creation without one. */
  async function one(sandboxes: Awaited<ReturnType<typeof server>>) {
    await sandboxes.create(createRequest());
    await vi.waitFor(() => expect(present().length).toBeGreaterThan(0), { timeout: 30_000 });
    return present()[0]!;
  }

  it('and a fork use a ready one, with its user and at its place', async () => {
    const sandboxes = await server();
    const { made, uid } = await one(sandboxes);
    const { id } = await sandboxes.create(createRequest({ resources: { ...NO_LIMITS, pids_limit: 3 } }));
    expect(made.taken).toMatchObject({ id, uid, resources: { pids_limit: 3 } });
    const spec = world.mount.attached.get(id);
    expect(spec).toMatchObject({ uid, place: made.taken!.workspace.slice(5) });
    expect(world.metadata.sandboxes.get(id)).toMatchObject({ uid });
    await vi.waitFor(() => expect(present().length).toBeGreaterThan(0), { timeout: 30_000 });
    const [fork] = await sandboxes.fork(forkOf(id));
    expect(runtime.prepared.some(({ made: each }) => each.taken?.id === fork?.sandbox?.id)).toBe(true);
    expect(runtime.launches).toHaveLength(1);
    await sandboxes.close();
  });

  it('with a ready one leaves the workspace to be opened by the first command', async () => {
    const sandboxes = await server();
    await one(sandboxes);
    const { id } = await sandboxes.create(createRequest());
    expect(world.mount.opened).toEqual([]);
    for (let each = 0; each < 2; each++) await sandboxes.exec(execRequest(id), new AbortController().signal);
    expect(world.mount.opened).toEqual([id]);
    await sandboxes.close();
  });

  it.each(['take', 'attach'])('goes on without the ready one if it fails at %s, with the same user', async (step) => {
    const sandboxes = await server();
    const { made, uid } = await one(sandboxes);
    if (step === 'take') runtime.refusing = true;
    else {
      world.mount.before = async ({ place }) => {
        if (place !== undefined) throw new Error('the place is gone');
      };
    }
    const { id } = await sandboxes.create(createRequest());
    expect(made.discarded).toBe(true);
    expect(runtime.launches).toContain(id);
    expect(runtime.up.get(id)?.spec.uid).toBe(uid);
    expect(world.mount.attached.get(id)?.place).toBeUndefined();
    await sandboxes.close();
  });
});

describe('a start', () => {
  /** A stopped sandbox, and one that is ready. */
  async function stopped() {
    vi.useRealTimers();
    world.ready = ready;
    world.uids = { start: 5000, size: 100 };
    const sandboxes = await world.start();
    await world.addCodebase();
    const { id } = await sandboxes.create(createRequest());
    await sandboxes.stop(id);
    await vi.waitFor(() => expect(present().length).toBe(2), { timeout: 30_000 });
    const { uid } = world.metadata.sandboxes.get(id)!;
    return { sandboxes, id, uid, next: present()[0]! };
  }

  it('uses a ready one, with its user and at its place, and the former user is free', async () => {
    const { sandboxes, id, uid, next } = await stopped();
    const released = vi.spyOn(UidSlots.prototype, 'release');
    await sandboxes.start(id);
    expect(next.made.taken).toMatchObject({ id, uid: next.uid });
    expect(world.mount.attached.get(id)).toMatchObject({ uid: next.uid, place: next.made.taken!.workspace.slice(5) });
    expect(world.metadata.sandboxes.get(id)).toMatchObject({ uid: next.uid, status: 'SANDBOX_RUNNING' });
    expect(released.mock.calls).toEqual([[uid]]);
    await sandboxes.close();
  });

  it.each(['the launch', 'the record'])('has its former user again after a failure of %s', async (what) => {
    const { sandboxes, id, uid, next } = await stopped();
    const released = vi.spyOn(UidSlots.prototype, 'release');
    if (what === 'the record') vi.spyOn(world.metadata.sandboxes, 'put').mockRejectedValueOnce(new Error('full'));
    else {
      world.mount.before = async () => {
        throw new Error('no attach');
      };
    }
    await expect(sandboxes.start(id)).rejects.toThrow();
    const of = (each: number) => released.mock.calls.filter(([user]) => user === each).length;
    expect([of(next.uid), of(uid)]).toEqual([1, 0]);
    expect(world.metadata.sandboxes.get(id)).toMatchObject({ uid });
    expect(runtime.up.size).toBe(0);
    world.mount.before = async () => {};
    await sandboxes.start(id);
    expect(runtime.up.has(id)).toBe(true);
    await sandboxes.close();
  });
});
