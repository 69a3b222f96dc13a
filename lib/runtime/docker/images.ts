import type Dockerode from 'dockerode';
import { invalidArgument, ServiceError } from '../../errors.ts';
import { MAX_IMAGE_LENGTH } from '../../image-reference.ts';
import type { Daemon } from './daemon.ts';
import { oneLine } from './errors.ts';

/** What of an image's own configuration reaches into a container whatever the container asks for. */
export interface ImageFacts {
  /** Content address: the container is made of exactly what was looked at. */
  id: string;
  /** Directories it declares as volumes: the daemon would give each unlimited host disk. */
  volumes: string[];
}

export interface ImageLimits {
  callMs: number;
  pullMs: number;
}

/** https://github.com/distribution/reference: domain, path, tag, digest; no more than Docker takes, and no flags. */
const REFERENCE =
  /^(?:[a-zA-Z0-9](?:[\w.-]*[a-zA-Z0-9])?(?::\d{1,5})?\/)?[a-z0-9]+(?:(?:\.|__?|-+|\/)[a-z0-9]+)*(?::\w[\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$/;

/**
 * The image as the daemon has it, pulled if it has not. INVALID_ARGUMENT for what is no image name; NOT_FOUND, naming
 * it, when the daemon neither has it nor can pull it within the limit.
 */
export async function findImage(daemon: Daemon, name: string, limits: ImageLimits): Promise<ImageFacts> {
  if (name.length > MAX_IMAGE_LENGTH || !REFERENCE.test(name)) {
    throw invalidArgument('image', 'must be the name of a container image, like ubuntu:22.04');
  }
  const present = await inspect(daemon, name, limits.callMs);
  if (present !== undefined) return present;
  await pull(daemon, name, limits.pullMs);
  const pulled = await inspect(daemon, name, limits.callMs);
  if (pulled === undefined) throw notFound(name, 'it is gone again after it was pulled');
  return pulled;
}

async function inspect(daemon: Daemon, name: string, limitMs: number): Promise<ImageFacts | undefined> {
  try {
    const { Id, Config } = await daemon.call({
      doing: `looking for image ${name}`,
      limitMs,
      ask: (docker, abortSignal) => docker.getImage(name).inspect({ abortSignal } as Dockerode.ImageInspectOptions),
    });
    return { id: Id, volumes: Object.keys(Config?.Volumes ?? {}) };
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'NOT_FOUND') return undefined;
    throw error;
  }
}

/** With no tag named, only `latest`: the API would take every tag there is. */
async function pull(daemon: Daemon, name: string, limitMs: number): Promise<void> {
  const [fromImage, tag] = splitReference(name);
  try {
    await daemon.call({
      doing: `pulling image ${name}`,
      limitMs,
      ask: async (docker, abortSignal) => {
        const progress = await docker.createImage({ fromImage, tag, abortSignal } as object);
        await finished(docker, progress);
      },
    });
  } catch (error) {
    throw notFound(name, error instanceof Error ? error.message : 'no reason given');
  }
}

/** A pull that fails half way ends with status 200 and its error in the stream. */
async function finished(docker: Dockerode, progress: NodeJS.ReadableStream): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    docker.modem.followProgress(
      progress,
      (error: Error | null) => (error ? reject(error) : resolve()),
      (event: { error?: string }) => event.error && reject(new Error(event.error)),
    );
  });
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
