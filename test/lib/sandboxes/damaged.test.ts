import { mkdirSync, readdirSync, rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../../lib/contract/messages.ts';
import type { SandboxKeeper } from '../../../lib/sandboxes/sandboxes.ts';
import { DirectMount } from './direct-mount.ts';
import { createRequest, Fixture, forkOf } from './fixture.ts';

let fixture: Fixture;
let mount: DirectMount;
let sandboxes: SandboxKeeper;

async function start(): Promise<void> {
  mount = new DirectMount();
  fixture.mount = mount;
  sandboxes = await fixture.start();
}

beforeEach(async () => {
  fixture = new Fixture();
  fixture.maxDelta = 0;
  await start();
  mkdirSync(join(fixture.folder, 'codebases/cb_1'), { recursive: true });
  await fixture.addCodebase();
});

afterEach(async () => {
  await sandboxes.close();
  fixture.remove();
});

const WRITE = [{ pattern: '**', permission: 'PERMISSION_WRITE', type: 'PATTERN_GLOB', priority: 0 } as const];
const create = () => sandboxes.create(createRequest({ permissions: WRITE }));

async function written(name: string): Promise<Sandbox> {
  const sandbox = await create();
  mount.write(sandbox.id, 'file', name);
  return sandbox;
}

const delta = ({ id }: Sandbox) => join(fixture.layout.deltas, id);
const statusOf = ({ id }: Sandbox) => {
  const { status, status_reason } = sandboxes.get(id);
  return [status, status_reason];
};

const LOSSES: Record<string, (sandbox: Sandbox) => void> = {
  'journal is gone': (sandbox) => rmSync(join(delta(sandbox), 'journal')),
  'journal is empty': (sandbox) => truncateSync(join(delta(sandbox), 'journal'), 0),
  'delta is gone': (sandbox) => rmSync(delta(sandbox), { recursive: true }),
  'delta is empty': (sandbox) => {
    rmSync(delta(sandbox), { recursive: true });
    mkdirSync(delta(sandbox));
  },
};
const REASON = 'the delta of the sandbox is damaged: its journal is missing or empty';

describe('a sandbox whose', () => {
  for (const [name, lose] of Object.entries(LOSSES)) {
    it(`${name} is SANDBOX_ERROR with the reason, and the others and its forks go on`, async () => {
      const [lost, other] = [await written('lost'), await written('other')];
      const fork = (await sandboxes.fork(forkOf(lost.id)))[0]!.sandbox!;
      await sandboxes.close();
      lose(lost);
      await start();
      await (await sandboxes.recover())();
      expect(statusOf(lost)).toEqual(['SANDBOX_ERROR', REASON]);
      await expect(sandboxes.start(lost.id)).rejects.toMatchObject({ code: 'DATA_LOSS', message: REASON });
      await expect(sandboxes.listChanges(lost.id, { page_size: 10, page_token: '' })).rejects.toMatchObject({
        code: 'DATA_LOSS',
      });
      expect([other, fork].map(statusOf)).toEqual(Array(2).fill(['SANDBOX_RUNNING', '']));
      await fixture.context.layers.done;
      await sandboxes.destroy(lost.id);
      fixture.context.reclaimLayers();
      await fixture.context.layers.done;
      expect(mount.read(fork.id, 'file')).toBe('lost');
      for (const { id } of [other, fork]) await sandboxes.destroy(id);
      fixture.context.reclaimLayers();
      await fixture.context.layers.done;
      expect(readdirSync(fixture.layout.layers)).toEqual([]);
    });
  }

  it('missing delta had only names in it is SANDBOX_ERROR, too', async () => {
    const [lost, unused] = [await create(), await create()];
    mount.write(lost.id, 'file', '');
    for (const { id } of [lost, unused]) await sandboxes.stop(id);
    for (const each of [lost, unused]) rmSync(delta(each), { recursive: true });
    await sandboxes.start(unused.id);
    await expect(sandboxes.start(lost.id)).rejects.toMatchObject({ code: 'DATA_LOSS', message: REASON });
    expect(statusOf(lost)).toEqual(['SANDBOX_ERROR', REASON]);
  });
});
