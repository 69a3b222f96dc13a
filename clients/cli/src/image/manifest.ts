import { createHash } from 'node:crypto';
import { CliError } from '../command-line/errors.ts';
import type { Reference } from './reference.ts';
import type { Registry } from './registry.ts';

/** A blob of the registry: its digest and its size in bytes. */
export interface Blob {
  digest: string;
  size: number;
}

export interface Pulled {
  /** The manifest and the configuration, which are small, with their bytes. */
  manifest: Blob & { bytes: Uint8Array };
  config: Blob & { bytes: Uint8Array };
  layers: readonly Blob[];
}

type Json = Readonly<Record<string, unknown>>;

const INDEXES = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
];
const MANIFESTS = [
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
];
const ACCEPT = [...INDEXES, ...MANIFESTS].join(', ');

const digestOf = (bytes: Uint8Array): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

/** The image of a platform, of a reference to it or to an index of several. All that is parsed has its digest. */
export async function manifestOf(registry: Registry, { version }: Reference, architecture: string): Promise<Pulled> {
  let digest = version;
  let bytes = await registry.bytes(`manifests/${version}`, ACCEPT);
  if (version.startsWith('sha256:')) requireDigest(bytes, version);
  let value = objectOf(bytes);
  if (value.manifests !== undefined) {
    digest = ofPlatform(value.manifests, architecture);
    bytes = await registry.bytes(`manifests/${digest}`, ACCEPT);
    requireDigest(bytes, digest);
    value = objectOf(bytes);
  }
  const config = blobOf(value.config);
  const configBytes = await registry.bytes(`blobs/${config.digest}`);
  requireDigest(configBytes, config.digest);
  if (!Array.isArray(value.layers)) throw new CliError('the manifest of the registry names no layers');
  return {
    manifest: { digest: digestOf(bytes), size: bytes.length, bytes },
    config: { ...config, size: configBytes.length, bytes: configBytes },
    layers: value.layers.map(blobOf),
  };
}

function ofPlatform(manifests: unknown, architecture: string): string {
  const all = Array.isArray(manifests) ? (manifests as { digest?: unknown; platform?: Json }[]) : [];
  const found = all.find(({ platform }) => platform?.os === 'linux' && platform.architecture === architecture);
  if (found !== undefined) return blobOf({ size: 0, ...found }).digest;
  const others = all.map(({ platform }) => platform?.architecture).filter((each) => each && each !== 'unknown');
  throw new CliError(`the image is not for linux/${architecture}; --arch is one of ${[...new Set(others)].join(', ')}`);
}

function objectOf(bytes: Uint8Array): Json {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString());
    if (typeof value === 'object' && value !== null) return value as Json;
  } catch {
    // Reported below.
  }
  throw new CliError('the registry answers with something that is no manifest');
}

function blobOf(value: unknown): Blob {
  const { digest, size } = (value ?? {}) as { digest?: unknown; size?: unknown };
  if (typeof digest !== 'string' || !/^sha256:[0-9a-f]{64}$/.test(digest) || !Number.isSafeInteger(size)) {
    throw new CliError('the manifest of the registry names something without a sha256 digest and a size');
  }
  return { digest, size: size as number };
}

function requireDigest(bytes: Uint8Array, digest: string): void {
  const found = digestOf(bytes);
  if (found !== digest) throw new CliError(`the registry answers with ${found} in place of ${digest}`);
}
