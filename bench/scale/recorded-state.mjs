/** Makes the state of a server with many sandboxes and codebases on record, without creating them one by one. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';

const DIGITS = '0123456789abcdefghjkmnpqrstvwxyz';
const DAY = 86_400;

/**
 * @param {string} state its directory
 * @param {{ sandboxes: number, running: number, codebases: number, firstUid: number }} counts
 * @param {object} more fields of each sandbox
 */
export function recordState(state, { sandboxes, running, codebases, firstUid }, more = {}) {
  const now = Math.floor(Date.now() / 1000);
  const lines = [JSON.stringify({ version: 2, log: 1, sequence: 0 })];
  for (let index = 0; index < codebases; index++) {
    const id = idOf('cb', index);
    for (const name of ['files', 'tmp']) mkdirSync(join(state, 'codebases', id, name), { recursive: true });
    lines.push(JSON.stringify(['codebases', codebase(id, now)]));
  }
  for (let index = 0; index < sandboxes; index++) {
    const status = index < running ? 'SANDBOX_RUNNING' : 'SANDBOX_STOPPED';
    const codebase_id = idOf('cb', index % codebases);
    const record = { ...sandbox(idOf('sb', index), codebase_id, status, firstUid + index, now), ...more };
    lines.push(JSON.stringify(['sandboxes', record]));
  }
  lines.push(JSON.stringify({ records: codebases + sandboxes }));
  mkdirSync(state, { recursive: true });
  writeFileSync(join(state, 'metadata.json'), `${lines.join('\n')}\n`, { mode: 0o600 });
  writeFileSync(join(state, 'metadata.json.log.1'), segment(1), { mode: 0o600 });
}

/** The content of a segment of the log without a change. */
export function segment(log) {
  const payload = JSON.stringify({ version: 2, log });
  const sum = crc32(payload, crc32(`0 ${payload.length} `));
  return `0 ${payload.length} ${sum.toString(16).padStart(8, '0')} ${payload}\n`;
}

/** Older than each id that a server makes. */
export function idOf(prefix, index) {
  let digits = '';
  for (let rest = index; digits.length < 16; rest = Math.floor(rest / 32)) digits = DIGITS[rest % 32] + digits;
  return `${prefix}_1m0000000${digits}`;
}

function codebase(id, now) {
  return {
    ...{ id, name: 'recorded', owner_id: `owner${id.slice(-2)}`, created_at: now - DAY },
    ...{ file_count: 0, total_size: 0, status_reason: '' },
    contents: { files: 0, bytes: 0, directories: 0, isExact: true },
  };
}

function sandbox(id, codebase_id, status, uid, now) {
  const rules = ['**', '/.git/**', '/secrets/**', '/docs/**'];
  return {
    ...{ id, codebase_id, status, uid, owner_id: `owner${id.slice(-2)}`, runtime: 'RUNTIME_MOCK', image: '' },
    permissions: rules.map((pattern) => ({
      ...{ pattern, permission: 'PERMISSION_READ', type: 'PATTERN_GLOB', priority: 0 },
    })),
    labels: { run: id.slice(-3), team: 'bench' },
    ...{ created_at: now - DAY, expires_at: now + 30 * DAY, destroy_at: 0 },
    resources: { memory_bytes: 2 ** 30, cpu_quota: 150_000, cpu_shares: 0, pids_limit: 512 },
    ...{ status_reason: '', auto_commit: 'never', auto_commit_error: '', auto_commit_stopped: false },
    ...{ idle_timeout: 0, on_idle: 'stop', on_expire: 'destroy', shell: '', env: {}, workdir: '' },
  };
}
