import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Sandbox } from '../../../lib/contract/messages.ts';
import type { SandboxKeeper } from '../../../lib/sandboxes/sandboxes.ts';
import type { SandboxUpdate } from '../../../lib/services.ts';
import { createRequest, execRequest, Fixture, forkOf, NO_UPDATE, never } from './fixture.ts';

let fixture: Fixture;
let sandboxes: SandboxKeeper;
let sandbox: Sandbox;

beforeEach(async () => {
  fixture = new Fixture();
  sandboxes = await fixture.start();
  await fixture.addCodebase();
  sandbox = await sandboxes.create(createRequest({ labels: { team: 'a', old: 'x' } }));
});
afterEach(() => fixture.remove());

const update = (fields: Partial<SandboxUpdate>) =>
  sandboxes.update({ sandbox_id: sandbox.id, ...NO_UPDATE, ...fields });
const stored = () => fixture.metadata.sandboxes.get(sandbox.id);

it('changes only what it names, durably', async () => {
  const labelled = await update({ labels: { team: 'b', new: '' }, remove_labels: ['old', 'absent'] });
  expect(labelled).toEqual({ ...sandbox, warnings: [], labels: { team: 'b', new: '' } });
  expect(stored()?.labels).toEqual({ team: 'b', new: '' });
  fixture.elapsed = 60_000;
  const prolonged = await update({ expires_in: 120 });
  expect(prolonged).toEqual({ ...labelled, expires_at: sandbox.created_at + 60 + 120 });
  expect(stored()).toMatchObject({ labels: { team: 'b', new: '' }, expires_at: prolonged.expires_at });
  expect((await update({ labels: { one: '1' }, clear_labels: true })).labels).toEqual({ one: '1' });
  expect((await update({ clear_labels: true })).labels).toEqual({});
});

it('changes shell, variables and workdir, within limits of their own', async () => {
  const { env, shell, workdir } = await update({ env: { A: '1', B: '2' }, shell: 'bash', workdir: 'src' });
  expect({ env, shell, workdir }).toEqual({ env: { A: '1', B: '2' }, shell: 'bash', workdir: 'src' });
  await update({ env: { B: '3', C: '' }, remove_env: ['A', 'ABSENT'] });
  expect(stored()).toMatchObject({ env: { B: '3', C: '' }, shell: 'bash', workdir: 'src' });
  const many = Object.fromEntries(Array.from({ length: 256 }, (_, index) => [`V${index}`, '']));
  const large = Object.fromEntries(Array.from({ length: 2 }, (_, index) => [`V${index}`, 'x'.repeat(32_761)]));
  for (const [refused, problem] of [
    [{ env: many }, 'env must leave the sandbox at most 256 variables, not 258'],
    [{ env: large }, 'env must leave the sandbox at most 65536 bytes of variables, not 65537'],
    [{ env: { A: '' }, remove_env: ['A'] }, 'remove_env must not have "A", which is in env'],
  ] as const) {
    await expect(update(refused)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', message: problem });
  }
  expect(await update({ clear_env: true, shell: '', workdir: '' })).toEqual({ ...sandbox, warnings: [] });
});

it('gives forks, and what is started after a restart, what it has', async () => {
  const changed = await update({ env: { A: '1' }, shell: 'bash', workdir: 'src' });
  await sandboxes.close();
  sandboxes = await fixture.start();
  await (await sandboxes.recover())();
  expect(sandboxes.get(sandbox.id)).toEqual(changed);
  const last = () => fixture.runtime.up.get(sandbox.id)!.commands.at(-1);
  await sandboxes.exec(execRequest(sandbox.id, { env: { B: '2' } }), never);
  expect(last()).toMatchObject({ env: { A: '1', B: '2' }, shell: 'bash', workdir: 'src', ownWorkdir: true });
  await sandboxes.exec(execRequest(sandbox.id, { env: { A: '2' }, shell: 'sh', workdir: '.' }), never);
  expect(last()).toMatchObject({ env: { A: '2' }, shell: 'sh', workdir: '.', ownWorkdir: false });
  const [same] = await sandboxes.fork(forkOf(sandbox.id));
  expect(same?.sandbox).toMatchObject({ env: { A: '1' }, shell: 'bash', workdir: 'src' });
  const [other] = await sandboxes.fork(forkOf(sandbox.id, { env: { B: '2' }, shell: 'sh', workdir: '/tmp' }));
  expect(other?.sandbox).toMatchObject({ env: { B: '2' }, shell: 'sh', workdir: '/tmp' });
});

it('counts the default lifetime from now if expires_in is 0, which may be for ever', async () => {
  fixture.elapsed = 60_000;
  expect((await update({ expires_in: 0 })).expires_at).toBe(sandbox.created_at + 60 + 3600);
  fixture.settings.defaultExpiration = 0;
  expect((await update({ expires_in: 0 })).expires_at).toBe(0);
});

it('without any field stores nothing', async () => {
  const { put } = fixture.metadata.sandboxes;
  let puts = 0;
  fixture.metadata.sandboxes.put = (record) => {
    puts++;
    return put.call(fixture.metadata.sandboxes, record);
  };
  expect(await update({})).toEqual({ ...sandbox, warnings: [] });
  expect(puts).toBe(0);
});

it('changes nothing if one part is refused or it cannot be stored', async () => {
  const many = Object.fromEntries(Array.from({ length: 63 }, (_, index) => [`l${index}`, '']));
  const refused = { code: 'INVALID_ARGUMENT', message: 'labels must leave the sandbox at most 64 labels, not 65' };
  await expect(update({ labels: many, expires_in: 7200 })).rejects.toMatchObject(refused);
  await expect(update({ labels: { a: '' }, remove_labels: ['b', 'a'] })).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    message: 'remove_labels must not have "a", which is in labels',
  });
  await fixture.metadata.close();
  await expect(update({ labels: { a: '' }, expires_in: 7200 })).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  expect(sandboxes.get(sandbox.id)).toEqual({ ...sandbox, warnings: [] });
});

it('of a stopped and of a failed sandbox leaves its state as it is', async () => {
  await sandboxes.stop(sandbox.id);
  expect((await update({ labels: { a: '' } })).status).toBe('SANDBOX_STOPPED');
  fixture.runtime.before = async () => {
    throw new Error('no room');
  };
  await expect(sandboxes.start(sandbox.id)).rejects.toThrow();
  const { status, status_reason } = sandboxes.get(sandbox.id);
  expect(await update({ expires_in: 9 })).toMatchObject({ status, status_reason });
  expect(stored()).toMatchObject({ status: 'SANDBOX_ERROR', status_reason });
});

it('of an expired sandbox is refused, and of one that is being destroyed NOT_FOUND', async () => {
  const destroyed = sandboxes.destroy(sandbox.id);
  await expect(update({ expires_in: 9 })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await destroyed;
  sandbox = await sandboxes.create(createRequest({ expires_in: 10 }));
  fixture.elapsed = 10_000;
  await expect(update({ expires_in: 9 })).rejects.toMatchObject({
    code: 'FAILED_PRECONDITION',
    message: `sandbox ${sandbox.id} has expired`,
  });
});

it('of one sandbox at once leaves the labels of each', async () => {
  await Promise.all(Array.from({ length: 20 }, (_, index) => update({ labels: { [`l${index}`]: '' } })));
  expect(Object.keys(sandboxes.get(sandbox.id).labels)).toHaveLength(22);
});
