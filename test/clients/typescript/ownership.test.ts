import { describe, expect, it } from 'vitest';
import { Paddock } from '../../../clients/typescript/src/index.ts';
import { type Answer, fakeServer, json, refused } from './fake-server.ts';

/** A server that makes sandboxes and codebases; `answers` come first, by method and path. */
async function served(answers: Readonly<Record<string, Answer>> = {}) {
  const { url, seen } = await fakeServer((res, each) => {
    const call = `${each.method} ${each.url}`;
    if (answers[call]) return answers[call](res, each);
    if (call === 'POST /v1/codebases') return json({ id: 'cb_1' })(res, each);
    if (call === 'POST /v1/sandboxes') return json({ id: 'sb_1', codebase_id: 'cb_1' })(res, each);
    return json({})(res, each);
  });
  const calls = () => seen.map((each) => `${each.method} ${each.url}`);
  return { paddock: new Paddock({ url, maxRetries: 0 }), calls, seen };
}

const REMOVED = 'DELETE /v1/codebases/cb_1';
const COMMIT = 'POST /v1/sandboxes/sb_1/commit';
const DESTROY = 'DELETE /v1/sandboxes/sb_1';

describe('the codebase that was made for a sandbox', () => {
  it('is deleted with it, also after a dry run', async () => {
    const { paddock, calls } = await served();
    const sandbox = await paddock.sandboxes.create();
    await sandbox.commit({ dryRun: true });
    await sandbox.destroy();
    expect(calls()).toContain(REMOVED);
  });

  it('is deleted with it after calls that were refused as they are', async () => {
    const { paddock, calls } = await served();
    const sandbox = await paddock.sandboxes.create();
    await expect(sandbox.commit({ paths: 'src' as never })).rejects.toThrow('paths must be');
    await expect(sandbox.forks(0)).rejects.toThrow('count must be');
    await sandbox.destroy();
    expect(calls()).toContain(REMOVED);
  });

  it('is kept after a commit whose answer was lost, and after a fork', async () => {
    const lost = await served({ [COMMIT]: (res) => res.destroy() });
    const sandbox = await lost.paddock.sandboxes.create();
    await expect(sandbox.commit()).rejects.toThrow(/was lost/);
    await sandbox.destroy();
    expect(lost.calls()).not.toContain(REMOVED);
    const forked = await served({ 'POST /v1/sandboxes/sb_1/fork': json({ results: [{ sandbox: { id: 'sb_2' } }] }) });
    const origin = await forked.paddock.sandboxes.create();
    const fork = await origin.fork();
    await fork.commit();
    await fork.destroy();
    await origin.destroy();
    expect(forked.calls()).not.toContain(REMOVED);
  });

  it('is deleted if the sandbox is gone, and kept if the sandbox could not be destroyed', async () => {
    const info = {
      '@type': 'type.googleapis.com/google.rpc.ResourceInfo',
      resourceType: 'sandbox',
      resourceName: 'sb_1',
    };
    const gone = await served({ [DESTROY]: json({ code: 5, message: 'gone', details: [info] }, 404) });
    await (await gone.paddock.sandboxes.create())[Symbol.asyncDispose]();
    expect(gone.calls()).toContain(REMOVED);
    const kept = await served({ [DESTROY]: refused(9, 400) });
    await expect((await kept.paddock.sandboxes.create()).destroy()).rejects.toThrow();
    expect(kept.calls()).not.toContain(REMOVED);
  });

  it('is not made if there is no such directory', async () => {
    const { paddock, calls } = await served();
    for (const from of ['/no/such', import.meta.filename])
      await expect(paddock.sandboxes.create({ from })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    expect(calls()).toEqual([]);
  });
});

it('a sandbox whose creation was aborted, or lost its answer, is destroyed', async () => {
  const controller = new AbortController();
  const reason = new Error('enough');
  let attempts = 0;
  const { paddock, calls, seen } = await served({
    'POST /v1/sandboxes': (res, each) => {
      if (attempts++ > 0) return json({ id: 'sb_1' })(res, each);
      controller.abort(reason);
    },
  });
  await expect(paddock.sandboxes.create({ signal: controller.signal })).rejects.toBe(reason);
  expect(calls().slice(1)).toEqual(['POST /v1/sandboxes', 'POST /v1/sandboxes', `${DESTROY}?discard=true`, REMOVED]);
  const keys = new Set(seen.slice(1, 3).map(({ headers }) => headers['idempotency-key']));
  expect(keys.size).toBe(1);
});

describe('a sandbox whose creation lost its answer', () => {
  const create = async (options: object) => {
    let tries = 0;
    const lost: Answer = (res, each) =>
      tries++ === 0 ? res.destroy() : json({ id: 'sb_1', codebase_id: 'cb_2' })(res, each);
    const { paddock, calls } = await served({ 'POST /v1/sandboxes': lost });
    await expect(paddock.sandboxes.create({ codebase: 'cb_2', ...options })).rejects.toThrow(/was lost/);
    return calls();
  };

  it('is destroyed', async () => {
    expect(await create({})).toContainEqual(expect.stringContaining(DESTROY));
  });

  it('is left if the key is the caller’s: it may be that of an earlier call', async () => {
    expect(await create({ idempotencyKey: 'job-42' })).toEqual(['POST /v1/sandboxes']);
  });
});
