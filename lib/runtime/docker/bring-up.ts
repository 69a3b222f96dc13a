import { setTimeout as delay } from 'node:timers/promises';
import type { ContainerCreateOptions, ContainerInspectInfo, ContainerInspectOptions } from 'dockerode';
import { ServiceError } from '../../errors.ts';
import type { Daemon } from './daemon.ts';
import { daemonStatus, oneLine } from './errors.ts';
import { removeNamedContainer } from './own-containers.ts';
import type { DockerTimes } from './times.ts';

/**
 * Errors of the daemon or runc that mean that the image is unsuitable, for example a file in the place of a directory.
 */
const OF_THE_IMAGE =
  /OCI runtime create failed|failed to create shim|failed to create task|no such file or directory|not a directory/;

/** The daemon is on another machine, or in a mount namespace to which the workspace mount does not propagate. */
const NOT_SEEN = /bind source path does not exist/;

/** Interval in milliseconds of attempts to create a container while an earlier one of its name is being removed. */
const REMOVAL_MS = 100;

/**
 * Creates the container and returns its id. A container of its name, which an earlier run of the sandbox left, is
 * removed first. INVALID_ARGUMENT for limits that Docker does not support, FAILED_PRECONDITION for an unsuitable image.
 */
export async function createContainer(
  daemon: Daemon,
  plan: ContainerCreateOptions,
  image: string,
  { startMs }: DockerTimes,
): Promise<string> {
  const create = () =>
    daemon.call({
      doing: 'creating a container',
      limitMs: startMs,
      ask: async (docker, abortSignal) => {
        const { id } = await docker.createContainer({ ...plan, abortSignal });
        if (typeof id !== 'string' || id === '') throw new Error('its answer has no container id');
        return id;
      },
    });
  for (const deadline = performance.now() + startMs; ; await delay(REMOVAL_MS)) {
    try {
      return await create();
    } catch (error) {
      if (daemonStatus(error) !== 409 || performance.now() > deadline) throw notCreated(image, error);
    }
    // If the removal is already in progress, this does not wait for it: the name is free some time later.
    await removeNamedContainer(daemon, plan, startMs);
  }
}

function notCreated(image: string, error: unknown): unknown {
  if (daemonStatus(error) !== 400) return aboutImage(image, error);
  if (error instanceof Error && NOT_SEEN.test(error.message)) {
    return refused('FAILED_PRECONDITION', "docker runtime: the daemon does not see this server's files", error);
  }
  return refused('INVALID_ARGUMENT', 'resources', error);
}

/** Starts a created container. FAILED_PRECONDITION naming the image, if the image is the cause. */
export async function startContainer(
  daemon: Daemon,
  id: string,
  image: string,
  { startMs }: DockerTimes,
): Promise<void> {
  try {
    await daemon.call({
      doing: 'starting a container',
      limitMs: startMs,
      ask: (docker, abortSignal) => docker.getContainer(id).start({ abortSignal }) as Promise<void>,
    });
  } catch (error) {
    throw aboutImage(image, error);
  }
}

/** The daemon's present state of a container. NOT_FOUND. */
export async function containerState(
  daemon: Daemon,
  id: string,
  { callMs }: DockerTimes,
): Promise<ContainerInspectInfo['State']> {
  return daemon.call({
    doing: 'looking for a container',
    limitMs: callMs,
    ask: async (docker, abortSignal) => {
      const { State } = await docker.getContainer(id).inspect({ abortSignal } as ContainerInspectOptions);
      if (typeof State?.Pid !== 'number') throw new Error('its answer has no state of the container');
      return State;
    },
  });
}

function aboutImage(image: string, error: unknown): unknown {
  if (!(error instanceof Error && OF_THE_IMAGE.test(error.message)) || daemonStatus(error) === undefined) return error;
  return refused('FAILED_PRECONDITION', `image ${JSON.stringify(image)}`, error);
}

function refused(code: 'INVALID_ARGUMENT' | 'FAILED_PRECONDITION', what: string, cause: unknown): ServiceError {
  const words = cause instanceof Error ? oneLine(cause.message) : 'refused';
  return new ServiceError(code, `${what}: ${words}`, [], { cause });
}
