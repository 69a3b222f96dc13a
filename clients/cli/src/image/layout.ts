import { createHash } from 'node:crypto';
import { END, headerOf, padding } from 'paddock-sandbox/local';
import { CliError } from '../command-line/errors.ts';
import type { Blob, Pulled } from './manifest.ts';
import type { Registry } from './registry.ts';

type Pieces = AsyncGenerator<Uint8Array, void, void>;

/** The image as an archive of an OCI layout. Layers pass through, with their digests checked; none is held in memory. */
export async function* layoutOf(registry: Registry, { manifest, config, layers }: Pulled): Pieces {
  const { digest, size } = manifest;
  const index = { schemaVersion: 2, manifests: [{ mediaType: MANIFEST, digest, size }] };
  yield* file('oci-layout', JSON.stringify({ imageLayoutVersion: '1.0.0' }));
  yield* file('index.json', JSON.stringify(index));
  for (const each of [manifest, config]) yield* file(nameOf(each), each.bytes);
  // One layer may be there twice.
  for (const layer of new Map(layers.map((each) => [each.digest, each])).values()) {
    yield headerOf(entryOf(nameOf(layer), layer.size));
    yield* checked(registry, layer);
    yield padding(layer.size);
  }
  yield END;
}

const MANIFEST = 'application/vnd.oci.image.manifest.v1+json';

/** Throws before the end of the archive, which the server does not take then. */
async function* checked(registry: Registry, { digest, size }: Blob): Pieces {
  const { body } = await registry.get(`blobs/${digest}`);
  const hash = createHash('sha256');
  let seen = 0;
  for await (const piece of body as ReadableStream<Uint8Array>) {
    seen += piece.length;
    if (seen > size) break;
    hash.update(piece);
    yield piece;
  }
  if (seen === size && digest === `sha256:${hash.digest('hex')}`) return;
  throw new CliError(`the registry answers with something else in place of the layer ${digest}`);
}

async function* file(name: string, content: Uint8Array | string): Pieces {
  const bytes = Buffer.from(content);
  yield headerOf(entryOf(name, bytes.length));
  yield bytes;
  yield padding(bytes.length);
}

const nameOf = ({ digest }: Blob): string => `blobs/sha256/${digest.slice('sha256:'.length)}`;

const entryOf = (path: string, size: number) => ({ path, size, type: 'file', mode: 0o644, mtimeMs: 0 }) as const;
