import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { shellQuote } from '../../lib/runtime/executor/shell-quote.ts';
import { until } from '../lib/runtime/bwrap/fixture.ts';
import { below, CGROUPS } from './cgroups.ts';

const base = mkdtempSync('/tmp/paddock-places-');
const server = join(base, 'server.mjs');
const USER = 340_000;
const ENDS_MS = 60_000;

/** The output of one start of the runtime: the result of a command above its memory limit. */
interface Said {
  pid: number;
  /** The command's exit code, or the code of the refusal of a sandbox with limits. */
  end: number | string;
  warnings: string[];
  /** The server's own path in the hierarchy, as it sees it. */
  own: string;
}

/** A server's runtime in a process of its own: tests a limit, prints the result, and waits for the end of its stdin. */
const SERVER = `
import { readFileSync } from 'node:fs';
import { createBwrapRuntime } from './lib/runtime/bwrap/index.ts';
const [stateDir, uid] = JSON.parse(process.argv[2]);
const warnings = [];
const log = { debug() {}, info() {}, warn: (message) => warnings.push(message), error() {} };
const runtime = createBwrapRuntime({ bwrapPath: '/usr/bin/bwrap', stateDir, log });
await runtime.probe();
const resources = { memory_bytes: 48 << 20, cpu_quota: 90_000, cpu_shares: 512, pids_limit: 40 };
const spec = { id: 'sb', workspace: stateDir + '/w', home: stateDir + '/w', runDir: stateDir + '/run/sb', uid, image: '', resources };
let sandbox, end;
try {
  sandbox = await runtime.launch(spec);
  const command = "exec perl -e '$x = \\"a\\" x (1 << 28)'";
  const { signal } = new AbortController();
  const events = await sandbox.exec({ command, stdin: '', env: {}, workdir: '', timeoutMs: 30_000, signal });
  for await (const event of events) if (event.kind === 'exit') end = event.exitCode;
} catch (error) { end = error.code; }
const own = /^0::(.*)$/m.exec(readFileSync('/proc/self/cgroup', 'latin1'))[1];
process.stdout.write(JSON.stringify({ pid: process.pid, end, warnings, own }) + '\\n');
process.stdin.on('end', async () => { await sandbox?.stop(); await runtime.close(); process.exit(0); }).resume();
`;

beforeAll(async () => {
  chmodSync(base, 0o711);
  await build({
    stdin: { contents: SERVER, resolveDir: resolve(import.meta.dirname, '../..'), loader: 'ts' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile: server,
    logLevel: 'error',
  });
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

describe('a server whose cgroup is', () => {
  let cgroup: string;
  let started: ChildProcess | undefined;
  let count = 0;

  beforeEach(() => {
    cgroup = join(CGROUPS, 'system.slice', `place-${process.pid}-${++count}.service`);
    mkdirSync(cgroup);
  });
  afterEach(async () => {
    started?.kill('SIGKILL');
    await until('its cgroups are gone', () => removed(cgroup), ENDS_MS);
  });

  /** Runs `script` in that cgroup. Returns its output line by line. */
  function start(script: string): { next(): Promise<Said>; ended: Promise<number | null>; end(): void } {
    const command = `echo 0 >${cgroup}/cgroup.procs && ${script}`;
    const child = spawn('/bin/sh', ['-c', command], { cwd: '/', stdio: ['pipe', 'pipe', 'inherit'] });
    started = child;
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    return {
      ended: new Promise((done) => child.once('exit', done)),
      end: () => child.stdin.end(),
      async next() {
        const { value, done } = await lines.next();
        if (done) throw new Error('the server ended before it said anything');
        return JSON.parse(value) as Said;
      },
    };
  }

  const command = (owner: number, uid: number) => {
    const state = mkdtempSync(join(base, 'state-'));
    mkdirSync(join(state, 'w'));
    chmodSync(state, 0o711);
    chownSync(state, owner, owner);
    chownSync(join(state, 'w'), uid, uid);
    return `${process.execPath} ${server} ${shellQuote(JSON.stringify([state, uid]))}`;
  };
  const inNamespace = (more: string, then: string) =>
    `exec unshare --cgroup --mount -- sh -c ${shellQuote(`umount ${CGROUPS} && mount -t cgroup2 cgroup2 ${CGROUPS} && ${more} exec ${then}`)}`;

  it('in a cgroup namespace, as in a container, moves into a leaf, so that limits hold below its own cgroup', async () => {
    const run = start(inNamespace('', command(0, USER)));
    const said = await run.next();
    expect(said).toMatchObject({ end: 137, warnings: expect.not.arrayContaining([expect.stringContaining('cgroup')]) });
    expect(said.own).toBe('/paddock-host');
    expect(below(cgroup)).toEqual([expect.stringMatching(/^paddock-[0-9a-f]{16}$/), 'paddock-host']);
    run.end();
    expect(await run.ended).toBe(0);
    expect(below(cgroup)).toEqual(['paddock-host']);
  });

  it('read-only reports that, and refuses limits', async () => {
    const run = start(inNamespace(`mount -o remount,bind,ro ${CGROUPS} &&`, command(0, USER)));
    expect(await run.next()).toMatchObject({
      end: 'FAILED_PRECONDITION',
      warnings: expect.arrayContaining([expect.stringContaining('no writable cgroups')]),
    });
    run.end();
    expect(await run.ended).toBe(0);
    expect(below(cgroup)).toEqual([]);
  });

  it('delegated to an ordinary user, as by systemd, enforces limits, and so does the next server of the same shell', async () => {
    for (const file of ['', 'cgroup.procs', 'cgroup.threads', 'cgroup.subtree_control'])
      chownSync(join(cgroup, file), USER, USER);
    const once = command(USER, USER);
    const user = `setpriv --reuid ${USER} --regid ${USER} --clear-groups`;
    const run = start(`exec ${user} sh -c ${shellQuote(`${once}; ${once}`)}`);
    const first = await run.next();
    expect(first).toMatchObject({
      end: 137,
      warnings: expect.not.arrayContaining([expect.stringContaining('cgroup')]),
    });
    const places = below(cgroup);
    expect(places).toEqual([expect.stringMatching(/^paddock-[0-9a-f]{16}$/), 'paddock-host']);
    process.kill(first.pid, 'SIGKILL');
    expect((await run.next()).end).toBe(137);
    // It found the first one's cgroups and took them over: they are not below the leaf in which it was started.
    expect(below(cgroup)).toEqual(places);
    expect(below(join(cgroup, 'paddock-host'))).toEqual([]);
    run.end();
    expect(await run.ended).toBe(0);
    expect(below(cgroup)).toEqual(['paddock-host']);
  });
});

/** Kills the processes of a cgroup and removes it. Returns false while a process is left. */
function removed(cgroup: string): boolean {
  if (!existsSync(cgroup)) return true;
  for (const name of below(cgroup)) removed(join(cgroup, name));
  for (const pid of readFileSync(join(cgroup, 'cgroup.procs'), 'latin1').split('\n').filter(Boolean)) {
    try {
      process.kill(Number(pid), 'SIGKILL');
    } catch {
      // The process has just ended.
    }
  }
  try {
    rmdirSync(cgroup);
  } catch {
    return false;
  }
  return true;
}
