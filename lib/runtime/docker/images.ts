import type Dockerode from 'dockerode';
import { invalidArgument, ServiceError } from '../../errors.ts';
import { MAX_IMAGE_LENGTH } from '../../image-reference.ts';
import type { Daemon } from './daemon.ts';
import { daemonStatus, oneLine } from './errors.ts';
import { jsonLines } from './json-lines.ts';

/** The parts of an image's configuration that affect a container regardless of its own options. */
export interface ImageFacts {
  /** Content digest: the container uses exactly the inspected image. */
  id: string;
  /** Directories declared as volumes, for each of which the daemon would use unlimited host disk. */
  volumes: string[];
}

export interface ImageLimits {
  callMs: number;
  pullMs: number;
}

/**
 * Domain, path, tag and digest as in https://github.com/distribution/reference, restricted to what Docker accepts and
 * without flags.
 */
const REFERENCE =
  /^(?:[a-zA-Z0-9](?:[\w.-]*[a-zA-Z0-9])?(?::\d{1,5})?\/)?[a-z0-9]+(?:(?:\.|__?|-+|\/)[a-z0-9]+)*(?::\w[\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$/;

/**
 * Returns the image, pulled if the daemon does not have it. INVALID_ARGUMENT for an invalid image name; NOT_FOUND,
 * naming the image, if the daemon does not have it and cannot pull it within the limit.
 */
export async function findImage(daemon: Daemon, name: string, limits: ImageLimits): Promise<ImageFacts> {
  if (name.length > MAX_IMAGE_LENGTH || !REFERENCE.test(name)) {
    throw invalidArgument('image', 'must be the name of a container image, like ubuntu:22.04');
  }
  const present = await presentImage(daemon, name, limits);
  if (present !== undefined) return present;
  await pull(daemon, name, limits.pullMs);
  const pulled = await presentImage(daemon, name, limits);
  if (pulled === undefined) throw notFound(name, 'it is gone again after it was pulled');
  return pulled;
}

/** The image, if the daemon has it. */
export async function presentImage(
  daemon: Daemon,
  name: string,
  { callMs: limitMs }: Pick<ImageLimits, 'callMs'>,
): Promise<ImageFacts | undefined> {
  try {
    const { Id, Config } = await daemon.call({
      doing: `looking for image ${name}`,
      limitMs,
      ask: async (docker, abortSignal) => {
        const image = await docker.getImage(name).inspect({ abortSignal } as Dockerode.ImageInspectOptions);
        if (typeof image.Id !== 'string') throw new Error('its answer has no image id');
        return image;
      },
    });
    return { id: Id, volumes: Object.keys(Config?.Volumes ?? {}) };
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'NOT_FOUND') return undefined;
    throw error;
  }
}

/** Without a tag only `latest` is pulled: the API would pull all tags. */
async function pull(daemon: Daemon, name: string, limitMs: number): Promise<void> {
  const [fromImage, tag] = splitReference(name);
  try {
    await daemon.call({
      doing: `pulling image ${name}`,
      limitMs,
      ask: async (docker, abortSignal) => {
        const progress = await docker.createImage({ fromImage, tag, abortSignal } as object);
        await finished(progress as unknown as AsyncIterable<Buffer>);
      },
    });
  } catch (error) {
    if (isOfConnection(error)) throw error;
    throw notFound(name, error instanceof Error ? error.message : 'no reason given');
  }
}

/** A pull that fails midway has status 200 and its error in the stream. */
async function finished(progress: AsyncIterable<Buffer>): Promise<void> {
  for await (const event of jsonLines(progress)) {
    const { error } = (event ?? {}) as { error?: unknown };
    if (error !== undefined) throw new PullError(String(error));
  }
}

/** Reported by the daemon, so it is about the image. */
class PullError extends Error {}

/** Whether the failure is of the connection to the daemon, which says nothing about the image. */
function isOfConnection(error: unknown): error is ServiceError {
  const cause = error instanceof ServiceError ? error.cause : undefined;
  return cause instanceof Error && !(cause instanceof PullError) && daemonStatus(error) === undefined;
}

function splitReference(name: string): [string, string] {
  const at = name.indexOf('@');
  if (at !== -1) return [name.slice(0, at), name.slice(at + 1)];
  const colon = name.lastIndexOf(':');
  return colon > name.lastIndexOf('/') ? [name.slice(0, colon), name.slice(colon + 1)] : [name, 'latest'];
}

function notFound(name: string, why: string): ServiceError {
  return new ServiceError(
    'NOT_FOUND',
    `image ${JSON.stringify(name)}: the Docker daemon neither has it nor could pull it: ${oneLine(why)}`,
  );
}
