import { expect, it } from 'vitest';
import type { SandboxRecord } from '../../../lib/metadata/metadata.ts';
import { LiveSandbox } from '../../../lib/sandboxes/sandbox.ts';
import { NO_LIMITS, NO_SURROUNDINGS } from './fixture.ts';

const RECORD: SandboxRecord = {
  id: 'sb_1',
  codebase_id: 'cb_1',
  status: 'SANDBOX_RUNNING',
  permissions: [],
  labels: {},
  created_at: 1,
  expires_at: 0,
  runtime: 'RUNTIME_BWRAP',
  image: '',
  resources: NO_LIMITS,
  status_reason: '',
  auto_commit: 'on_stop',
  auto_commit_error: '',
  auto_commit_stopped: false,
  owner_id: 'ann',
  idle_timeout: 0,
  on_idle: 'stop',
  ...NO_SURROUNDINGS,
  on_expire: 'destroy',
  destroy_at: 0,
  uid: 1000,
  commit_owed: true,
};

/** A store that answers when it is told how. */
function slowRecords() {
  const stored: SandboxRecord[] = [];
  let answer = (_error?: Error) => {};
  const put = (record: SandboxRecord) => {
    stored.push(record);
    return new Promise<void>((resolve, reject) => {
      answer = (error) => (error ? reject(error) : resolve());
    });
  };
  return { put, stored, answer: (error?: Error) => answer(error) };
}

const seen = ({ record, status, reason }: LiveSandbox) => ({ labels: record.labels, status, reason });

it('an update is visible when it is stored, with its transition, and not before', async () => {
  const records = slowRecords();
  const sandbox = new LiveSandbox(RECORD);
  const before = seen(sandbox);
  const updated = sandbox.update({ labels: { a: 'b' }, commit_owed: undefined }, records, 'stop');
  expect(seen(sandbox)).toEqual(before);
  records.answer();
  await updated;
  expect(seen(sandbox)).toEqual({ labels: { a: 'b' }, status: 'SANDBOX_STOPPED', reason: '' });
  const { commit_owed: _, ...rest } = RECORD;
  expect(records.stored).toEqual([{ ...rest, labels: { a: 'b' }, status: 'SANDBOX_STOPPED' }]);
  expect('commit_owed' in sandbox.record).toBe(false);
});

it('an update that cannot be stored changes nothing', async () => {
  const records = slowRecords();
  const sandbox = new LiveSandbox(RECORD);
  const before = { ...seen(sandbox), record: sandbox.record };
  const updated = sandbox.update({ labels: { a: 'b' } }, records, 'stop');
  records.answer(new Error('disk full'));
  await expect(updated).rejects.toThrow('disk full');
  expect({ ...seen(sandbox), record: sandbox.record }).toEqual(before);
});

it('an impossible transition is refused before anything is stored', async () => {
  const records = slowRecords();
  const sandbox = new LiveSandbox({ ...RECORD, status: 'SANDBOX_STOPPED' });
  await expect(sandbox.update({}, records, 'lost')).rejects.toThrow('a sandbox that is SANDBOX_STOPPED cannot lost');
  expect(records.stored).toEqual([]);
});

it('a report is visible at once, and stays so when it cannot be stored', async () => {
  const records = slowRecords();
  const sandbox = new LiveSandbox(RECORD);
  sandbox.transition('failed', 'the agent ended');
  const reported = sandbox.report({ auto_commit_error: 'conflict' }, records);
  records.answer(new Error('disk full'));
  await expect(reported).rejects.toThrow('disk full');
  expect(sandbox.view()).toMatchObject({
    status: 'SANDBOX_ERROR',
    status_reason: 'the agent ended',
    auto_commit_error: 'conflict',
  });
  expect(records.stored[0]).toMatchObject({ status: 'SANDBOX_ERROR', auto_commit_error: 'conflict' });
});
