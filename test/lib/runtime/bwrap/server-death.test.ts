import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mountAt, readMountsSync } from '../../../../lib/linux/mountinfo.ts';
import { silentLog } from '../../../../lib/log.ts';
import { createBwrapRuntime } from '../../../../lib/runtime/bwrap/index.ts';
import { instanceDir } from '../../../../lib/runtime/bwrap/instance.ts';
import { RESOURCES, run } from '../run.ts';
import { runtimeCgroups, until } from './fixture.ts';

const base = mkdtempSync('/tmp/paddock-death-');
const uid = 330_000 + (process.pid % 1000);
const unprivileged = 331_000 + (process.pid % 1000);

/** A server in a process of its own: launches a sandbox, starts a background process in it, prints `ready`, waits. */
const SERVER = `
import { createBwrapRuntime } from './lib/runtime/bwrap/index.ts';
const [stateDir, uid, resources, commands] = JSON.parse(process.argv[2]);
const warnings = [];
const log = { debug() {}, info() {}, warn: (message) => warnings.push(message), error() {} };
const runtime = createBwrapRuntime({ bwrapPath: '/usr/bin/bwrap', stateDir, log });
await runtime.probe();
const spec = { id: 'sb', workspace: stateDir + '/w', home: stateDir + '/w', runDir: stateDir + '/run/sb', uid, image: '', resources };
const sandbox = await runtime.launch(spec);
const results = [];
for (const [command, timeoutMs] of commands) {
  let stdout = '';
  let end;
  const { signal } = new AbortController();
  try {
    for await (const event of await sandbox.exec({ command, stdin: '', env: {}, workdir: '', timeoutMs, signal })) {
      if (event.kind === 'output') stdout += event.data;
      else end = event.exitCode;
    }
  } catch (error) { end = error.code; }
  results.push([stdout, end]);
}
process.stdout.write(JSON.stringify({ results, warnings }) + '\\n');
process.stdin.on('end', async () => { await sandbox.stop(); await runtime.close(); process.exit(0); }).resume();
`;
const server = join(base, 'server.mjs');
const children: ChildProcess[] = [];

beforeAll(async () => {
  chmodSync(base, 0o711);
  await build({
    stdin: { contents: SERVER, resolveDir: resolve(import.meta.dirname, '../../../..'), loader: 'ts' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile: server,
    logLevel: 'error',
  });
});
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(base, { recursive: true, force: true });
});

async function start(stateDir: string, owner: number, resources: object, commands: [string, number][], as?: number) {
  const child = spawn(process.execPath, [server, JSON.stringify([stateDir, owner, resources, commands])], {
    cwd: '/',
    stdio: ['pipe', 'pipe', 'pipe'],
    ...(as !== undefined && { uid: as, gid: as }),
  });
  children.push(child);
  let said = '';
  let errors = '';
  child.stdout.on('data', (data: Buffer) => {
    said += data;
  });
  child.stderr.on('data', (data: Buffer) => {
    errors += data;
  });
  await until('the server is up', () => said.includes('\n') || child.exitCode !== null);
  if (!said.includes('\n')) throw new Error(`the server did not start: ${errors}`);
  return { child, ...(JSON.parse(said) as { results: [string, number | string][]; warnings: string[] }) };
}

function living(owner: number): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      const status = /^\d+$/.test(pid) ? readFileSync(`/proc/${pid}/status`, 'latin1') : '';
      return status.includes(`\nUid:\t${owner}\t`) && !status.includes('State:\tZ') && !status.includes('Name:\tnode');
    } catch {
      return false;
    }
  });
}

/** Returns the directories of spare launchers in each hierarchy. */
function cgroupsOf(stateDir: string): string[] {
  return runtimeCgroups(stateDir)
    .flatMap((root) => readdirSync(root).map((name) => join(root, name)))
    .filter((path) => path.includes('/spare-'));
}

/** Returns the processes of a cgroup and of its agent's cgroup. */
const inside = (dir: string) =>
  [dir, join(dir, 'agent')]
    .filter(existsSync)
    .flatMap((each) => readFileSync(join(each, 'cgroup.procs'), 'latin1').split('\n').filter(Boolean));

function state(name: string, owner: number): string {
  const dir = join(base, name);
  mkdirSync(join(dir, 'w'), { recursive: true });
  chmodSync(dir, 0o711);
  chownSync(join(dir, 'w'), owner, owner);
  return dir;
}

describe('a server killed with SIGKILL', () => {
  it('takes its sandboxes with it, and the next server starts without conflicts', async () => {
    const dir = state('killed', uid);
    const { child } = await start(dir, uid, { ...RESOURCES, memory_bytes: 1 << 28, pids_limit: 50 }, [
      ['(setsid sh -c "trap \\"\\" TERM HUP; sleep 300" >/dev/null 2>&1 &); echo left', 5000],
    ]);
    expect(living(uid).length).toBeGreaterThan(3);
    const cgroups = () => cgroupsOf(dir);
    const spares = () => cgroups().flatMap(inside);
    await until('it has spares', () => spares().length > 1);
    child.kill('SIGKILL');
    await until('its processes are gone', () => living(uid).length === 0 && spares().length === 0);
    const next = createBwrapRuntime({ bwrapPath: '/usr/bin/bwrap', stateDir: dir, log: silentLog });
    await next.probe();
    await next.reclaim();
    const spec = {
      id: 'sb',
      workspace: join(dir, 'w'),
      home: join(dir, 'w'),
      runDir: join(dir, 'run/sb'),
      uid,
      image: '',
      resources: RESOURCES,
    };
    const sandbox = await next.launch(spec);
    expect(await run(sandbox, 'echo again')).toMatchObject({ stdout: 'again\n' });
    await sandbox.stop();
    await next.close();
    expect(existsSync(instanceDir(dir, true))).toBe(false);
    expect(mountAt(readMountsSync(), instanceDir(dir, true))).toBeUndefined();
    expect(cgroups()).toEqual([]);
  });
});

describe('the server of an ordinary user', () => {
  it('runs sandboxes, reports the weaker isolation, kills the processes of a command, and refuses limits', async () => {
    const dir = state('user', unprivileged);
    chownSync(dir, unprivileged, unprivileged);
    const commands: [string, number][] = [
      ['id -u; grep -E "^(Seccomp|CapEff|NoNewPrivs):" /proc/self/status', 5000],
      ['setsid sleep 1234 & sleep 1234', 300],
      ['cat /proc/[0-9]*/cmdline | tr "\\\\0" " " | grep -c "sleep 12[3]4"', 5000],
      ['touch /workspace/f && echo wrote', 5000],
    ];
    const { child, results, warnings } = await start(dir, unprivileged, RESOURCES, commands, unprivileged);
    expect(results).toEqual([
      ['1000\nCapEff:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\n', 0],
      ['', 'DEADLINE_EXCEEDED'],
      ['0\n', 1],
      ['wrote\n', 0],
    ]);
    expect(warnings.join('\n')).toMatch(/not root/);
    expect(warnings.join('\n')).toMatch(/no writable cgroups/);
    child.stdin.end();
    await until('it ended', () => child.exitCode === 0);
    expect(living(unprivileged)).toEqual([]);
    await expect(start(dir, unprivileged, { ...RESOURCES, pids_limit: 10 }, [], unprivileged)).rejects.toThrow(
      /resources.pids_limit cannot be enforced/,
    );
  });
});
