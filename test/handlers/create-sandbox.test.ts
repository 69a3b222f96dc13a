import { describe, expect, it } from 'vitest';
import { createSandbox } from '../../handlers/create-sandbox.ts';
import type { NewSandbox } from '../../lib/services.ts';
import { aSandbox } from '../adapters/fake-services.ts';
import { call, json } from './call.ts';

async function requestOf(event: Parameters<typeof call>[1]): Promise<NewSandbox> {
  const seen: NewSandbox[] = [];
  const create = async (request: NewSandbox) => {
    seen.push(request);
    return aSandbox;
  };
  expect(await call(createSandbox, event, { sandboxes: { create } })).toEqual(aSandbox);
  return seen[0]!;
}

const zero = {
  codebase_id: 'cb_1',
  permissions: [],
  labels: {},
  expires_in: 0,
  image: '',
  resources: { memory_bytes: 0, cpu_quota: 0, cpu_shares: 0, pids_limit: 0 },
  preset: '',
  auto_commit: '',
  idle_timeout: 0,
  on_idle: '',
  shell: '',
  env: {},
  workdir: '',
  on_expire: '',
  secrets: [],
  read_only_paths: [],
  workspace_path: '',
  validate_only: false,
  rules: { write: [], read: [], none: [], scratch: [], view: [], redacted: [], shown: [] },
};

describe('CreateSandbox', () => {
  it.each([
    ['absent', { codebase_id: 'cb_1' }],
    [
      'null',
      { codebase_id: 'cb_1', permissions: null, labels: null, expires_in: null, runtime: null, resources: null },
    ],
  ])('gives an %s field its zero value, and leaves runtime undefined', async (_what, body) => {
    const request = await requestOf(json(body));
    expect(request).toEqual(zero);
    expect('runtime' in request).toBe(false);
  });

  it('reads enum numbers, and int64 as decimal strings', async () => {
    const body = {
      codebase_id: 'cb_1',
      permissions: [{ permission: 2, type: 1 }],
      runtime: 0,
      expires_in: '315360000',
    };
    expect(await requestOf(json(body))).toMatchObject({
      permissions: [{ permission: 'PERMISSION_READ', type: 'PATTERN_DIRECTORY', pattern: '', priority: 0 }],
      runtime: 'RUNTIME_BWRAP',
      expires_in: 315_360_000,
    });
  });

  it('keeps keys that are property names in JavaScript', async () => {
    const { labels } = await requestOf({
      headers: { 'content-type': 'application/json' },
      body: '{"codebase_id":"cb_1","labels":{"__proto__":"a","constructor":"b"}}',
    });
    expect(Object.entries(labels)).toEqual([
      ['__proto__', 'a'],
      ['constructor', 'b'],
    ]);
  });

  it.each([
    [{ nope: 1 }, /^nope is not a known field; allowed are codebase_id, permissions, labels, expires_in, runtime, /],
    [{ 'a b': 1 }, /^"a b" is not a known field/],
    [{ ['x'.repeat(1000)]: 1 }, /^"x{64}…" is not a known field/],
    [{ permissions: [{}, {}, { patern: 'x' }] }, /^permissions\[2\]\.patern is not a known field/],
    [{ codebase_id: '\ud800' }, /^codebase_id must be valid Unicode$/],
    [{ permissions: [null] }, /^permissions\[0\] must be an object with pattern, permission/],
    [
      { permissions: [{ permission: 'PERMISSION_RAED' }] },
      /^permissions\[0\]\.permission must be one of PERMISSION_NONE, /,
    ],
    [{ permissions: [{ permission: 4 }] }, /^permissions\[0\]\.permission must be one of/],
    [{ permissions: [{ permission: -1 }] }, /^permissions\[0\]\.permission must be one of/],
    [{ permissions: [{ permission: 1.5 }] }, /^permissions\[0\]\.permission must be one of/],
    [{ permissions: [{ permission: 'toString' }] }, /^permissions\[0\]\.permission must be one of/],
    [
      { permissions: [{ priority: 2 ** 31 }] },
      /^permissions\[0\]\.priority must be between -2147483648 and 2147483647$/,
    ],
    [{ labels: { a: null } }, /^labels\[a\] must be a string$/],
    [
      { expires_in: 1.5 },
      /^expires_in must be an integer of seconds, between 0 and 315360000, as a number or a decimal string$/,
    ],
    [{ expires_in: '1e3' }, /^expires_in must be an integer/],
    [{ expires_in: '' }, /^expires_in must be an integer/],
    [{ expires_in: true }, /^expires_in must be an integer/],
    [{ expires_in: 2 ** 53 }, /^expires_in must be between 0 and 315360000 seconds$/],
  ])('refuses %j', async (body, text) => {
    await expect(call(createSandbox, json(body), {})).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringMatching(text),
    });
  });

  it.each(['{', '', 'undefined', '{"a":1}}', '\ufeff{}'])('refuses the JSON text %j', async (body) => {
    const event = { headers: { 'content-type': 'application/json' }, body };
    await expect(call(createSandbox, event, {})).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringMatching(/^the request body is not valid JSON/),
    });
  });
});
