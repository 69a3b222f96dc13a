import type { DockerEnvironment } from './config/load.ts';
import type { Config } from './config/schema.ts';
import type { Runtime as RuntimeName } from './contract/messages.ts';
import type { Descriptors } from './descriptors.ts';
import type { Log } from './log.ts';
import { createBwrapRuntime } from './runtime/bwrap/index.ts';
import { createDockerRuntime } from './runtime/docker/index.ts';
import { isMarkedReady } from './runtime/docker/ready-mark.ts';
import { createMockRuntime } from './runtime/mock/index.ts';
import type { RuntimeFactory, Runtimes } from './runtimes.ts';
import { foldersOf } from './sandboxes/host/layout.ts';

/**
 * Removes the ready containers that a killed server left, before their users are given to sandboxes. Without the daemon, they are
 * removed when that runtime is used: their main process has ended with the server.
 */
export async function removeReady({ storage }: Config, runtimes: Runtimes, log: Log): Promise<void> {
  if (!isMarkedReady(storage.mountPath)) return;
  await runtimes.get('RUNTIME_DOCKER').catch((err: unknown) => {
    log.warn('ready containers of an earlier server could not be removed yet', { err });
  });
}

/** Returns the factory of each runtime, bound to the configuration. */
export function runtimeFactories(
  { runtime, sandbox, storage }: Config,
  {
    dockerEnvironment,
    niceness,
    descriptors,
    authorities,
    workspacesDir,
    log,
  }: {
    dockerEnvironment: DockerEnvironment;
    niceness?: number | undefined;
    descriptors: Descriptors;
    authorities: string | undefined;
    workspacesDir: string;
    log: Log;
  },
): Readonly<Record<RuntimeName, RuntimeFactory>> {
  const imagesDir = foldersOf(storage.mountPath).images;
  const { bwrapPath, readOnlyPaths } = runtime;
  const { tmpBytes } = sandbox;
  const shared = { stateDir: storage.mountPath, stopGraceMs: runtime.stopGrace, tmpBytes, descriptors, log };
  return {
    RUNTIME_BWRAP: () =>
      createBwrapRuntime({ imagesDir, workspacesDir, bwrapPath, readOnlyPaths, niceness, authorities, ...shared }),
    RUNTIME_DOCKER: () => createDockerRuntime({ ...runtime.docker, environment: dockerEnvironment, ...shared }),
    RUNTIME_MOCK: () => createMockRuntime(),
  };
}
