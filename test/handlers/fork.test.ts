import { describe, expect, it } from 'vitest';
import { fork } from '../../handlers/fork.ts';
import { call, json, message } from './call.ts';

const body = {
  count: 3,
  checkpoint: 'a',
  permissions: [],
  preset: 'read-only',
  labels: { a: 'b' },
  expires_in: 60,
  resources: { memory_bytes: 2 ** 23, cpu_quota: 1000, cpu_shares: 2, pids_limit: 0 },
  auto_commit: 'on_exec',
  idle_timeout: 0,
  on_idle: 'destroy',
  shell: 'bash',
  env: { A: 'b' },
  workdir: 'src',
  on_expire: 'stop',
  secrets: [{ name: 'a', variable: 'A', hosts: [], shape: '' }],
  rules: { write: [], read: [], none: [], scratch: [], view: [], redacted: [], shown: [] },
};

describe('Fork', () => {
  it('makes the same call for JSON with a path and for a decoded message', async () => {
    const seen: unknown[] = [];
    const fake = (...args: unknown[]) => {
      seen.push(args);
      return [{ error: { code: 8, message: 'full' } }];
    };
    const given = { sandboxes: { fork: fake as never } };
    const rest = { ...json(body), pathParameters: { sandbox_id: 'sb_1' } };
    expect(await call(fork, rest, given)).toEqual({ results: [{ error: { code: 8, message: 'full' } }] });
    expect(await call(fork, message({ sandbox_id: 'sb_1', ...body }), given)).toEqual({
      results: [{ error: { code: 8, message: 'full' } }],
    });
    expect(seen).toEqual([[{ sandbox_id: 'sb_1', ...body }], [{ sandbox_id: 'sb_1', ...body }]]);
  });
});
