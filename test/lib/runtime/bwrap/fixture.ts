import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import type { ResourceLimits } from '../../../../lib/contract/messages.ts';
import { readMountsSync } from '../../../../lib/linux/mountinfo.ts';
import { silentLog } from '../../../../lib/log.ts';
import { createBwrapRuntime } from '../../../../lib/runtime/bwrap/index.ts';
import { instanceName } from '../../../../lib/runtime/bwrap/instance.ts';
import type { RunningSandbox, Runtime, SandboxSpec } from '../../../../lib/runtime/runtime.ts';
import { RESOURCES } from '../run.ts';

export interface Bwrap {
  runtime: Runtime;
  stateDir: string;
  spec(resources?: Partial<ResourceLimits>): SandboxSpec;
  launch(resources?: Partial<ResourceLimits>): Promise<RunningSandbox>;
  /** Prepares a sandbox and takes it. `guess`: the limits that it is prepared with. */
  launchReady(spec?: SandboxSpec, guess?: ResourceLimits): Promise<RunningSandbox>;
}

/** No program: the server starts the shells of its sandboxes itself. */
export const NO_SPAWNER = { spawner: '/nonexistent/spawner' };

/** A uid range outside the server's default range, different for test files that run concurrently. */
const FIRST_UID = 300_000 + (process.pid % 5000) * 1000;

/**
 * A real bwrap runtime on a state directory of its own, probed once for the file; its sandboxes' workspaces are plain
 * directories. All launched sandboxes are stopped and removed at the end. `spawner`: see `ProcessStarter`.
 */
export function useBwrap({ spawner }: { spawner?: string } = {}): Bwrap {
  const stateDir = mkdtempSync('/tmp/paddock-runtime-');
  chmodSync(stateDir, 0o711);
  const more = spawner === undefined ? {} : { spawner };
  const runtime = createBwrapRuntime({
    bwrapPath: '/usr/bin/bwrap',
    stateDir,
    workspacesDir: stateDir,
    log: silentLog,
    ...more,
  });
  const running: RunningSandbox[] = [];
  let count = 0;
  beforeAll(() => runtime.probe());
  afterAll(async () => {
    await Promise.all(running.map((sandbox) => sandbox.stop()));
    await runtime.close();
    rmSync(stateDir, { recursive: true, force: true });
  });
  const bwrap: Bwrap = {
    runtime,
    stateDir,
    spec(resources = {}) {
      const id = `sb_${++count}`;
      const uid = FIRST_UID + count;
      const [workspace, home] = [join(stateDir, `workspace-${count}`), join(stateDir, `home-${count}`)];
      for (const path of [workspace, home]) {
        mkdirSync(path);
        chownSync(path, uid, uid);
      }
      const runDir = join(stateDir, 'run', id);
      return { id, workspace, home, runDir, uid, image: '', resources: { ...RESOURCES, ...resources } };
    },
    async launch(resources) {
      const sandbox = await runtime.launch(bwrap.spec(resources));
      running.push(sandbox);
      return sandbox;
    },
    async launchReady(spec = bwrap.spec(), guess = spec.resources) {
      const ready = await runtime.prepare!({ ...spec, resources: guess });
      try {
        const sandbox = await ready.take(spec);
        running.push(sandbox);
        return sandbox;
      } catch (error) {
        await ready.discard();
        throw error;
      }
    },
  };
  return bwrap;
}

/** Polls until `condition` returns true; the failure names the condition. */
export async function until(what: string, condition: () => boolean | Promise<boolean>, ms = 60_000): Promise<void> {
  const deadline = Date.now() + ms;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`waited ${ms} ms in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Returns the runtime's directory, or `path` below it, in every cgroup hierarchy that has one. */
export function runtimeCgroups(stateDir: string, path = ''): string[] {
  return readMountsSync()
    .filter(({ type }) => type === 'cgroup' || type === 'cgroup2')
    .map(({ mountPoint }) => join(mountPoint, `paddock-${instanceName(stateDir)}`, path))
    .filter(existsSync);
}
