import { quoteText } from '../byte-string.ts';
import type { Blobs } from './blobs.ts';
import { isDigest } from './digests.ts';
import { invalidImage } from './image-error.ts';
import type { ImageFormat } from './image-record.ts';

/** A layer: a file of the archive, and the digests that its bytes must have. */
export interface Layer {
  blob: string;
  /** Of the file as it is; undefined: the archive does not say. */
  digest: string | undefined;
  /** Of the tar in it. */
  diffId: string;
}

/** What an archive of layers says about its image. */
export interface Manifest {
  id: string;
  format: ImageFormat;
  layers: readonly Layer[];
  env: Readonly<Record<string, string>>;
}

const ARCHITECTURES: Readonly<Record<string, string>> = {
  x64: 'amd64',
  arm64: 'arm64',
  arm: 'arm',
  riscv64: 'riscv64',
};
const MAX_LAYERS = 512;
const MAX_VARIABLES = 256;
const MAX_ENV_BYTES = 64 * 1024;
/** Indexes may refer to indexes. */
const MAX_NESTING = 4;

type Json = Readonly<Record<string, unknown>>;

/** Reads the manifest and the configuration of the only image in the archive for this machine. */
export async function readManifest(blobs: Blobs): Promise<Manifest> {
  if (blobs.has('index.json')) return fromIndex(blobs, (await blobs.json('index.json')).value, 0);
  if (blobs.has('manifest.json')) return fromDockerSave(blobs);
  throw invalidImage('its archive has neither index.json (OCI) nor manifest.json (docker save)');
}

async function fromIndex(blobs: Blobs, index: Json, depth: number): Promise<Manifest> {
  const all = list(index.manifests).filter((each) => blobs.has(blobOf(each.digest)));
  const fitting = all.filter(({ platform }) => isOfThisMachine(platform as Json | undefined));
  if (fitting.length !== 1 || depth === MAX_NESTING) {
    const what = fitting.length > 1 ? 'more than one image' : 'no image';
    throw invalidImage(`its archive has ${what} for linux/${architecture()}`);
  }
  const value = await verified(blobs, fitting[0]!.digest);
  if (value.manifests !== undefined) return fromIndex(blobs, value, depth + 1);
  const config = value.config as Json | undefined;
  const layers = list(value.layers).map(({ digest }) => ({ blob: blobOf(digest), digest: String(digest) }));
  return withConfig('oci', String(config?.digest), await verified(blobs, config?.digest), layers);
}

async function fromDockerSave(blobs: Blobs): Promise<Manifest> {
  const images = list((await blobs.json('manifest.json')).value);
  if (images.length !== 1) throw invalidImage(`its archive has ${images.length} images, and not one`);
  const { Config: name, Layers: names } = images[0]!;
  if (typeof name !== 'string' || !Array.isArray(names)) throw invalidImage('manifest.json names no layers');
  const { value, digest } = await blobs.json(name);
  const hex = /([0-9a-f]{64})(\.json)?$/.exec(name)?.[1];
  if (digest !== `sha256:${hex}`) throw invalidImage(`${quoteText(name)} does not have the digest in its name`);
  return withConfig(
    'docker',
    digest,
    value,
    names.map((blob) => ({ blob: String(blob), digest: undefined })),
  );
}

function withConfig(format: ImageFormat, id: string, config: Json, layers: readonly Omit<Layer, 'diffId'>[]): Manifest {
  if (!isOfThisMachine(config)) {
    throw invalidImage(`it is for ${config.os}/${config.architecture}, and not for linux/${architecture()}`);
  }
  const ids = (config.rootfs as Json | undefined)?.diff_ids;
  if (!Array.isArray(ids) || ids.length !== layers.length || !ids.every(isDigest)) {
    throw invalidImage('its configuration does not have one digest for each layer');
  }
  if (layers.length > MAX_LAYERS) throw invalidImage(`it has more than ${MAX_LAYERS} layers`);
  return {
    id,
    format,
    layers: layers.map((layer, index) => ({ ...layer, diffId: ids[index] as string })),
    env: envOf((config.config as Json | undefined)?.Env),
  };
}

async function verified(blobs: Blobs, digest: unknown): Promise<Json> {
  const { value, digest: found } = await blobs.json(blobOf(digest));
  if (found !== digest) throw invalidImage(`the blob ${digest} has another digest: ${found}`);
  return value;
}

function blobOf(digest: unknown): string {
  if (!isDigest(digest)) throw invalidImage(`${quoteText(String(digest).slice(0, 80))} is no sha256 digest`);
  return `blobs/sha256/${digest.slice('sha256:'.length)}`;
}

/** Attestations have the platform unknown/unknown. No platform: any. */
function isOfThisMachine(platform: Json | undefined): boolean {
  if (platform?.os === undefined && platform?.architecture === undefined) return true;
  return platform.os === 'linux' && platform.architecture === architecture();
}

function architecture(): string {
  return ARCHITECTURES[process.arch] ?? process.arch;
}

function list(value: unknown): Json[] {
  if (!Array.isArray(value) || value.some((each) => typeof each !== 'object' || each === null)) {
    throw invalidImage('a list in its archive is missing');
  }
  return value as Json[];
}

function envOf(value: unknown): Record<string, string> {
  if (value === undefined || value === null) return {};
  if (!Array.isArray(value)) throw invalidImage('Env of its configuration is not a list');
  const env: Record<string, string> = Object.create(null);
  for (const each of value.map(String)) {
    const name = each.slice(0, Math.max(0, each.indexOf('=')));
    if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !each.includes('\0')) env[name] = each.slice(name.length + 1);
  }
  const bytes = Buffer.byteLength(Object.entries(env).flat().join('\n'));
  if (Object.keys(env).length > MAX_VARIABLES || bytes > MAX_ENV_BYTES) {
    throw invalidImage(`Env of its configuration has more than ${MAX_VARIABLES} variables or ${MAX_ENV_BYTES} bytes`);
  }
  return { ...env };
}
