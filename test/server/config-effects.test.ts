import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ExecResponse, Sandbox } from '../../lib/contract/messages.ts';
import { BUNDLE, Server, State } from '../contract/server.ts';
import { Api } from './api.ts';

/** Each key that is not shown elsewhere, at a value that no default has, on one server. */
const WRITE = [{ pattern: '**', permission: 'PERMISSION_WRITE', type: 'PATTERN_GLOB', priority: 0 }];

let state: State;
let server: Server;
let api: Api;
let sandbox: Sandbox;
let codebase_id: string;

beforeAll(async () => {
  state = await State.create();
  const tools = join(state.directory, 'tools');
  mkdirSync(tools);
  writeFileSync(join(tools, 'tool'), 'a tool');
  server = await Server.start(state, {
    config: {
      runtime: { default_timeout: '1s', max_timeout: '30500ms', read_only_paths: [tools] },
      sandbox: {
        default_expiration: '900s',
        max_per_user: 1,
        max_delta_bytes: '1MiB',
        max_delta_files: 3,
        default_resources: { memory_bytes: '300MiB', cpu_quota: 50_000, cpu_shares: 512, pids_limit: 40 },
      },
      limits: { exec_output_bytes: 10 },
      logging: { level: 'debug' },
    },
  });
  api = new Api(server.httpAddress);
  codebase_id = await api.codebase();
  sandbox = await api.sandbox(await api.create(codebase_id, { permissions: WRITE }));
});

afterAll(async () => {
  await server.stop();
  await state.remove();
});

async function exec(
  command: string,
  more: object = { timeout: 30 },
): Promise<{ status: number; body: ExecResponse & { message: string } }> {
  const { status, body } = await api.post(`/v1/sandboxes/${sandbox.id}/exec`, { command, ...more });
  return { status, body: body as ExecResponse & { message: string } };
}

describe('the configuration key', () => {
  it('runtime.default_timeout applies to a command without a timeout', async () => {
    expect((await exec('sleep 60', {})).status).toBe(504);
  });

  it('runtime.max_timeout refuses a longer timeout and is named in the error', async () => {
    const { status, body } = await exec('true', { timeout: 31 });
    expect([status, body.message]).toEqual([400, expect.stringContaining('at most 30.5 seconds')]);
    expect((await exec('true')).status).toBe(200);
  });

  it('runtime.uid_range is the range of the host users', async () => {
    const running = exec('sleep 0.9');
    await expect.poll(() => state.processes().some((line) => line.includes(`uid ${state.uids.start}:`))).toBe(true);
    await running;
  });

  it('runtime.read_only_paths are shown at the same place and cannot be written', async () => {
    const tool = join(state.directory, 'tools/tool');
    expect((await exec(`cat ${tool}`)).body.stdout).toBe('a tool');
    expect((await exec(`echo > ${tool}`)).body.exit_code).not.toBe(0);
  });

  it('sandbox.default_expiration applies to a sandbox without expires_in', () => {
    expect(sandbox.expires_at - sandbox.created_at).toBe(900);
  });

  it('sandbox.max_per_user limits the sandboxes of a user', async () => {
    const { status, body } = await api.post('/v1/sandboxes', { codebase_id });
    expect([status, (body as Error).message]).toEqual([429, expect.stringContaining('the most is 1')]);
  });

  it('sandbox.default_resources apply to a sandbox without limits, and are enforced', async () => {
    expect(sandbox.resources).toEqual({
      memory_bytes: 300 * 2 ** 20,
      cpu_quota: 50_000,
      cpu_shares: 512,
      pids_limit: 40,
    });
    const { body } = await exec('for i in $(seq 60); do sleep 0.5 & done; wait');
    expect(body.stderr ?? body.message).toBeTruthy();
    expect(body.exit_code).not.toBe(0);
  });

  it('sandbox.max_delta_bytes limits what a sandbox writes', async () => {
    expect((await exec('head -c 500000 /dev/zero > small')).body.exit_code).toBe(0);
    expect((await exec('head -c 2000000 /dev/zero > large')).body.exit_code).not.toBe(0);
    await exec('rm -f small large');
  });

  it('sandbox.max_delta_files limits the files that a sandbox creates', async () => {
    const { body } = await exec('for i in 1 2 3 4 5 6 7 8; do : > file$i || exit 7; done');
    expect(body.exit_code).not.toBe(0);
    await exec('rm -f file*');
  });

  it('limits.exec_output_bytes truncates the output that Exec returns', async () => {
    expect((await exec('echo 0123456789abcdef')).body.stdout).toMatch(/^0123456789\n\[output cut at 10 bytes\]/);
  });

  it('logging.level filters log lines', async () => {
    await expect.poll(() => server.log.join()).toContain('"level":"debug"');
  });
});

describe('logging.format', () => {
  it('text writes one readable line per entry', async () => {
    const other = await State.create();
    const config = await other.writeConfig('mock', { logging: { format: 'text' } });
    const child = spawn(process.execPath, [BUNDLE, '-config', config], { stdio: ['ignore', 'pipe', 'inherit'] });
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    await expect.poll(() => said, { timeout: 60_000 }).toMatch(/^\S+ INFO {2}ready grpc_addr="127\.0\.0\.1:\d+" /m);
    child.kill('SIGTERM');
    await once(child, 'exit');
    await other.remove();
  });
});
