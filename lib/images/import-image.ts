import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { decompressed } from '../archive/decompress.ts';
import type { Unzstd } from '../archive/unzstd.ts';
import type { Threads } from '../threads/thread-pool.ts';
import { Blobs, isOfLayers } from './blobs.ts';
import { Digesting } from './digests.ts';
import { invalidImage } from './image-error.ts';
import type { ImageRecord } from './image-record.ts';
import { type Layer, type Manifest, readManifest } from './manifest.ts';
import { type Member, membersOf } from './members.ts';
import { type EtcFiles, prepareRoot } from './prepare-root.ts';
import { RootTree } from './root-tree.ts';
import { addMember, applyWhiteout } from './unpack.ts';
import type { ImportUsage } from './usage.ts';

/** What an import has found and stored. */
export type Imported = Pick<
  ImageRecord,
  'id' | 'format' | 'file_count' | 'total_size' | 'env' | 'entries' | 'resetsSignals'
>;

/** What the parts of an import share. */
interface Work {
  tree: RootTree;
  blobs: Blobs;
  usage: ImportUsage;
  unzstd: Threads<Unzstd>;
}

interface Import extends Pick<Work, 'usage' | 'unzstd'> {
  etc: EtcFiles;
  known(id: string): boolean;
}

/**
 * Unpacks an archive into `directory`/root; `directory` is empty and the server's, and the caller moves or removes it.
 * `known`: whether an image of this id is stored already, so that its layers are not unpacked; its id is then all that
 * is returned.
 */
export async function importImage(
  directory: string,
  content: AsyncIterable<Uint8Array>,
  { usage, unzstd, etc, known }: Import,
): Promise<Imported | { id: string }> {
  const at = (name: string) => join(directory, name);
  await mkdir(at('root'), { mode: 0o755 });
  await chmod(at('root'), 0o755);
  for (const name of ['trash', 'blobs']) await mkdir(at(name), { mode: 0o700 });
  const tree = await RootTree.open(at('root'), at('trash'));
  const work = { tree, blobs: new Blobs(at('blobs')), usage, unzstd };
  try {
    const digest = await readArchive(content, work);
    const manifest: Manifest =
      digest === undefined ? await readManifest(work.blobs) : { id: digest, format: 'tar', layers: [], env: {} };
    const { id, format, env } = manifest;
    if (known(id)) return { id };
    for (const [index, layer] of manifest.layers.entries()) await unpackLayer(layer, index, work);
    const prepared = await prepareRoot(at('root'), tree, etc);
    return { id, format, env, ...prepared, file_count: usage.files, total_size: usage.bytes };
  } finally {
    await tree.close();
  }
}

/**
 * Unpacks an archive of a file system, and returns the digest of the tar; or stores the blobs of an archive of layers, and
 * returns undefined.
 */
async function readArchive(
  content: AsyncIterable<Uint8Array>,
  { tree, blobs, usage, unzstd }: Work,
): Promise<string | undefined> {
  const digesting = new Digesting();
  let ofLayers: boolean | undefined;
  for await (const member of membersOf(digesting.through(decompressed(content, unzstd)))) {
    ofLayers ??= isOfLayers(member);
    if (ofLayers) await blobs.add(member, usage);
    else await addMember(tree, member, usage);
  }
  if (ofLayers === undefined) throw invalidImage('its archive is empty');
  return ofLayers ? undefined : digesting.digest();
}

/** All whiteouts of a layer precede its files, whatever their order in the archive. */
async function unpackLayer(layer: Layer, index: number, work: Work): Promise<void> {
  const { tree, usage } = work;
  if (index > 0) await readLayer(layer, work, (member) => applyWhiteout(tree, member));
  await readLayer(layer, work, (member) => addMember(tree, member, usage));
}

async function readLayer(
  layer: Layer,
  { blobs, unzstd }: Work,
  each: (member: Member) => Promise<void>,
): Promise<void> {
  const [packed, plain] = [new Digesting(), new Digesting()];
  const bytes = decompressed(packed.through(blobs.read(layer.blob)), unzstd);
  for await (const member of membersOf(plain.through(bytes))) await each(member);
  check(layer.blob, layer.digest, packed.digest());
  check(layer.blob, layer.diffId, plain.digest());
}

function check(blob: string, expected: string | undefined, found: string): void {
  if (expected !== undefined && expected !== found) {
    throw invalidImage(`the layer ${blob} should have the digest ${expected}, and has ${found}`);
  }
}
