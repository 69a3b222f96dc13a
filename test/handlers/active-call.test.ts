import { expect, it } from 'vitest';
import { exec } from '../../handlers/exec.ts';
import { writeFile } from '../../handlers/files.ts';
import { getSandbox, listSandboxes } from '../../handlers/sandboxes.ts';
import { OPEN } from '../../lib/access/guard.ts';
import { ServiceError } from '../../lib/errors.ts';
import { aSandbox, execution, exit } from '../adapters/fake-services.ts';
import { call, message } from './call.ts';

/** Notes in order what happens; `answered` keeps the releases, which the adapter calls after the response. */
function scene() {
  const notes: string[] = [];
  const releases: (() => void)[] = [];
  return {
    notes,
    releases,
    beginCall: (id: string) => {
      notes.push(`begin ${id}`);
      return () => void notes.push('end');
    },
    answered: (release: () => void) => void releases.push(release),
  };
}

it('a call is use of its sandbox until the response was sent', async () => {
  const { notes, releases, beginCall, answered } = scene();
  const sandboxes = {
    exec: async () => {
      notes.push('exec');
      return execution(exit());
    },
  };
  await call(exec, message({ sandbox_id: 'sb_1', command: 'true' }), { sandboxes, beginCall, answered });
  expect(notes).toEqual(['begin sb_1', 'exec']);
  for (const release of releases) release();
  expect(notes).toEqual(['begin sb_1', 'exec', 'end']);
});

it('a call of an adapter that does not report the response is use until the handler ends, also with an error', async () => {
  const { notes, beginCall } = scene();
  const get = () => {
    notes.push('get');
    throw new ServiceError('NOT_FOUND', 'none');
  };
  await expect(call(getSandbox, message({ sandbox_id: 'sb_1' }), { sandboxes: { get }, beginCall })).rejects.toThrow();
  expect(notes).toEqual(['begin sb_1', 'get', 'end']);
});

it('an upload is use from its first message on', async () => {
  const { notes, beginCall, answered, releases } = scene();
  async function* stream() {
    notes.push('first message');
    yield { sandbox_id: 'sb_1', path: 'a' };
  }
  const write = async () => {
    notes.push('write');
    return {} as never;
  };
  await call(writeFile, { stream: stream() }, { sandboxes: { writeFile: write }, beginCall, answered });
  expect([notes, releases.length]).toEqual([['first message', 'begin sb_1', 'write'], 1]);
});

it('a list is no use, and neither is a call that is refused before it reaches the sandbox', async () => {
  const { notes, beginCall } = scene();
  const list = () => ({ sandboxes: [aSandbox], next_page_token: '' });
  await call(listSandboxes, {}, { sandboxes: { list }, beginCall });
  await expect(call(exec, message({ sandbox_id: 'sb_1' }), { beginCall })).rejects.toThrow('command is required');
  const narrow = () => {
    throw new ServiceError('NOT_FOUND', 'of another owner');
  };
  const guard = { ...OPEN, narrow };
  await expect(call(getSandbox, message({ sandbox_id: 'sb_1' }), { beginCall, guard })).rejects.toThrow('of another');
  expect(notes).toEqual([]);
});
