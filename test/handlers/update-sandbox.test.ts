import { describe, expect, it } from 'vitest';
import { updateSandbox } from '../../handlers/update-sandbox.ts';
import type { UpdateSandboxRequest } from '../../lib/contract/messages.ts';
import { aSandbox } from '../adapters/fake-services.ts';
import { call, json, message } from './call.ts';

async function requestOf(event: Parameters<typeof call>[1]): Promise<UpdateSandboxRequest> {
  const seen: UpdateSandboxRequest[] = [];
  const update = async (request: UpdateSandboxRequest) => {
    seen.push(request);
    return aSandbox;
  };
  const at = { ...event, ...(event.body instanceof Object ? {} : { pathParameters: { sandbox_id: 'sb_1' } }) };
  expect(await call(updateSandbox, at, { sandboxes: { update } })).toEqual(aSandbox);
  return seen[0]!;
}

const nothing = {
  sandbox_id: 'sb_1',
  labels: {},
  remove_labels: [],
  clear_labels: false,
  env: {},
  remove_env: [],
  clear_env: false,
};

describe('UpdateSandbox', () => {
  it('leaves out what the request does not name, and keeps a 0', async () => {
    expect(await requestOf({})).toEqual(nothing);
    expect(await requestOf(json({}))).toEqual(nothing);
    expect(await requestOf(message({ sandbox_id: 'sb_1', expires_in: 0 }))).toEqual({ ...nothing, expires_in: 0 });
  });

  it('reads a merge patch: null removes labels, and resets a field to its default', async () => {
    const policy = { expires_in: null, on_expire: null, idle_timeout: null, on_idle: null };
    const reset = { ...policy, shell: null, workdir: null };
    const patch = json({ labels: { a: 'b', old: null, older: null }, env: { A: 'b', OLD: null }, ...reset });
    expect(await requestOf(patch)).toEqual({
      ...nothing,
      labels: { a: 'b' },
      remove_labels: ['old', 'older'],
      expires_in: 0,
      idle_timeout: 0,
      on_idle: '',
      on_expire: '',
      env: { A: 'b' },
      remove_env: ['OLD'],
      shell: '',
      workdir: '',
    });
    expect(await requestOf(json({ env: null }))).toEqual({ ...nothing, clear_env: true });
    expect(await requestOf(json({ labels: null }))).toEqual({ ...nothing, clear_labels: true });
    expect(await requestOf(json({ labels: { a: null }, remove_labels: ['b'] }))).toEqual({
      ...nothing,
      remove_labels: ['b', 'a'],
    });
  });

  it('keeps label keys that are property names in JavaScript', async () => {
    const { labels, remove_labels } = await requestOf({
      headers: { 'content-type': 'application/json' },
      body: '{"labels":{"__proto__":"a","constructor":null}}',
    });
    expect([Object.entries(labels), remove_labels]).toEqual([[['__proto__', 'a']], ['constructor']]);
  });

  it.each([
    [[], 'the request body must be a JSON object'],
    [[{ op: 'add', path: '/labels/a', value: 'b' }], 'the request body must be a JSON object'],
    ['labels', 'the request body must be a JSON object'],
    [{ labels: { a: 1 } }, 'labels[a] must be a string'],
    [{ labels: { '': 'a' } }, 'a key of labels must not be empty'],
    [{ labels: { '': null } }, 'remove_labels[0] must not be empty'],
    [{ env: { 'A-B': null } }, 'remove_env[0] must have letters, digits and "_" only, and no digit first'],
    [{ labels: { a: null }, remove_labels: 'b' }, 'remove_labels must be a list of strings'],
    [{ permissions: [] }, /^permissions is not a known field; allowed are sandbox_id, labels, /],
    [{ sandbox_id: 'sb_2' }, 'sandbox_id is not the one in the path; leave it out'],
  ])('refuses %j', async (body, text) => {
    await expect(requestOf(json(body))).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringMatching(typeof text === 'string' ? text.replace(/[[\]]/g, '\\$&') : text),
    });
  });
});
