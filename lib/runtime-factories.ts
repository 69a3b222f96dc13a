import type { DockerEnvironment } from './config/load.ts';
import type { Config } from './config/schema.ts';
import { ServiceError } from './errors.ts';
import type { Log } from './log.ts';
import type { RuntimeName } from './messages.ts';
import { createBwrapRuntime } from './runtime/bwrap/index.ts';
import { createMockRuntime } from './runtime/mock/index.ts';
import type { RuntimeFactory } from './runtimes.ts';

/** How each runtime is made of the configuration. */
export function runtimeFactories(
  { runtime, storage }: Config,
  { log }: { dockerEnvironment: DockerEnvironment; log: Log },
): Readonly<Record<RuntimeName, RuntimeFactory>> {
  const { bwrapPath, readOnlyPaths } = runtime;
  return {
    RUNTIME_BWRAP: () => createBwrapRuntime({ bwrapPath, stateDir: storage.mountPath, readOnlyPaths, log }),
    RUNTIME_DOCKER: () => {
      throw new ServiceError('FAILED_PRECONDITION', 'runtime.type: docker is not in this version of the server');
    },
    RUNTIME_MOCK: () => createMockRuntime(),
  };
}
