import { chown, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ResourceLimits } from '../../../../lib/contract/messages.ts';
import { silentLog } from '../../../../lib/log.ts';
import { createDockerRuntime, type DockerOptions } from '../../../../lib/runtime/docker/index.ts';
import { type DockerTimes, TIMES } from '../../../../lib/runtime/docker/times.ts';
import type { Command, Execution, RunningSandbox, Runtime, SandboxSpec } from '../../../../lib/runtime/runtime.ts';
import type { Daemon } from '../../../docker/daemon.ts';
import { slowness } from '../../../slowness.ts';

export interface Scene {
  runtime: Runtime;
  /** Host directory of the sandboxes' workspaces and run directories. */
  directory: string;
  spec(changes?: Partial<SandboxSpec>): Promise<SandboxSpec>;
  launch(changes?: Partial<SandboxSpec>): Promise<RunningSandbox>;
  /** Prepares a sandbox and takes it. `guess`: the limits that it is prepared with. */
  launchReady(changes?: Partial<SandboxSpec>, guess?: ResourceLimits): Promise<RunningSandbox>;
  /** Stops launched sandboxes, and removes everything. */
  end(): Promise<void>;
}

let sandboxes = 0;

/** A docker runtime on a private daemon, with plain directories in place of the service's file system. */
export async function openScene(dockerd: Pick<Daemon, 'host'>, options: Partial<DockerOptions> = {}): Promise<Scene> {
  const directory = await mkdtemp(join(tmpdir(), 'paddock-docker-scene-'));
  const runtime = createDockerRuntime({
    host: dockerd.host,
    environment: {},
    networkMode: 'none',
    enableNetworking: false,
    log: silentLog,
    stateDir: join(directory, 'state'),
    times: onThisMachine(TIMES),
    ...options,
  });
  const launched: RunningSandbox[] = [];

  async function spec(changes: Partial<SandboxSpec> = {}): Promise<SandboxSpec> {
    const number = sandboxes++;
    const [id, uid] = [`sb_docker${process.pid}x${number}`, 300_000 + number];
    const [workspace, home] = [join(directory, `ws-${id}`), join(directory, `home-${id}`)];
    for (const path of [workspace, home]) {
      await mkdir(path, { mode: 0o700 });
      await chown(path, uid, uid);
    }
    const resources = { memory_bytes: 256 * 1024 ** 2, cpu_quota: 0, cpu_shares: 0, pids_limit: 64 };
    const runDir = join(directory, `run-${id}`);
    return { id, uid, workspace, home, runDir, image: 'base', resources, ...changes };
  }

  return {
    runtime,
    directory,
    spec,
    async launch(changes) {
      const sandbox = await runtime.launch(await spec(changes));
      launched.push(sandbox);
      return sandbox;
    },
    async launchReady(changes, guess) {
      const whole = await spec(changes);
      const ready = await runtime.prepare!({ ...whole, resources: guess ?? whole.resources });
      const sandbox = await ready.take(whole).catch(async (error: unknown) => {
        await ready.discard();
        throw error;
      });
      launched.push(sandbox);
      return sandbox;
    },
    async end() {
      await Promise.all(launched.splice(0).map((sandbox) => sandbox.stop()));
      await runtime.reclaim().catch(() => undefined);
      await runtime.close?.();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** The service's limits, which are too short for a daemon in an emulated machine. */
function onThisMachine({ callMs, pullMs, startMs, removeMs, retryMs }: DockerTimes): DockerTimes {
  return {
    callMs: callMs * slowness,
    pullMs: pullMs * slowness,
    startMs: startMs * slowness,
    removeMs: removeMs * slowness,
    retryMs,
  };
}

export interface Output {
  stdout: string;
  stderr: string;
  exitCode: number;
}

export async function collect(execution: Execution): Promise<Output> {
  const output = { STDOUT: '', STDERR: '' };
  for await (const event of execution) {
    if (event.kind === 'exit') return { stdout: output.STDOUT, stderr: output.STDERR, exitCode: event.exitCode };
    output[event.stream] += event.data.toString();
  }
  throw new Error('the execution ended without an exit');
}

export async function sh(sandbox: RunningSandbox, command: string, changes: Partial<Command> = {}): Promise<Output> {
  const signal = new AbortController().signal;
  const whole = { command, stdin: '', env: {}, workdir: '', timeoutMs: 20_000, signal, ...changes };
  return collect(await sandbox.exec(whole));
}
