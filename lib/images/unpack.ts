import { tooManyLinks } from '../archive/member-path.ts';
import { type ByteString, baseNameOf, fromLatin1, quote, sliceOf } from '../byte-string.ts';
import type { Directory } from '../host-tree/directory.ts';
import { writeNewFile } from '../host-tree/new-file.ts';
import { errorCode } from '../linux/errno.ts';
import { hostSeconds, secondsOf } from '../linux/time.ts';
import { invalidImage } from './image-error.ts';
import type { Member } from './members.ts';
import { createFile, createLink, makeIn, namesOf, type RootTree } from './root-tree.ts';
import type { ImportUsage } from './usage.ts';

/** Files up to this size are written at once. */
const SMALL = 64 * 1024;
const WHITEOUT = '.wh.';
/** Of AUFS: no files of the image. */
const RESERVED = '.wh..wh.';
const OPAQUE = '.wh..wh..opq';

/**
 * Adds a member of a layer, over what lower layers have. All files belong to the server and are readable by all, and
 * executable by all or nobody: no set-id bits, no devices.
 */
export async function addMember(tree: RootTree, entry: Member, usage: ImportUsage): Promise<void> {
  const names = namesOf(entry.path);
  const name = names.pop();
  if (name === undefined || name.startsWith(WHITEOUT)) return;
  const second = entry.type === 'link' ? await linkTarget(tree, entry) : undefined;
  const created = () => usage.addFile();
  await tree.in(
    names,
    async (directory) => {
      const existing = await directory.lstat(name);
      if (existing?.isDirectory() && entry.type === 'directory') return;
      if (existing !== undefined) await tree.remove(directory, name);
      usage.addFile();
      if (second !== undefined) await tree.take(second, directory, name);
      else await create(directory, name, entry, usage);
    },
    created,
  );
}

/**
 * Applies a whiteout of a layer: removes what lower layers have at the path. Call for all members of a layer before any
 * of them is added.
 */
export async function applyWhiteout(tree: RootTree, entry: Member): Promise<void> {
  if (!baseNameOf(entry.path).startsWith(WHITEOUT)) return;
  const names = namesOf(entry.path);
  const name = names.pop()!;
  await tree.in(names, async (directory) => {
    if (name === OPAQUE) return empty(tree, directory);
    if (name.startsWith(RESERVED)) return;
    const hidden = sliceOf(name, WHITEOUT.length);
    if (hidden === '' || hidden === '.' || hidden === '..') throw invalidImage(`${quote(entry.path)} names no file`);
    if ((await directory.lstat(hidden)) !== undefined) await tree.remove(directory, hidden);
  });
}

async function empty(tree: RootTree, directory: Directory): Promise<void> {
  // Removals while a directory is read may hide other names.
  for (let left = true; left; ) {
    left = false;
    for await (const { name } of directory.entries()) {
      left = true;
      await tree.remove(directory, fromLatin1(name));
    }
  }
}

/** A second name of the file that a hard link is of. */
async function linkTarget(tree: RootTree, { path, target }: Member): Promise<ByteString> {
  const names = namesOf(target);
  const name = names.pop();
  const second =
    name === undefined
      ? undefined
      : await tree.in(names, async (directory) => {
          const stat = await directory.lstat(name);
          return stat?.isFile() ? tree.link(directory, name).catch((error) => refuseLink(path, error)) : undefined;
        });
  if (second === undefined) throw invalidImage(`${quote(path)} is a hard link to what is not an earlier file`);
  return second;
}

function refuseLink(path: ByteString, error: unknown): never {
  if (errorCode(error) === 'EMLINK') throw tooManyLinks(path);
  throw error;
}

async function create(directory: Directory, name: ByteString, entry: Member, usage: ImportUsage): Promise<void> {
  if (entry.type === 'directory') return (await makeIn(directory, name)).close();
  if (entry.type === 'symlink') return createLink(directory, name, entry.target);
  usage.addBytes(entry.size);
  const as = { mode: (entry.mode & 0o111) === 0 ? 0o644 : 0o755, mtime: entry.mtime };
  if (entry.size <= SMALL) {
    const pieces: Uint8Array[] = [];
    for await (const piece of entry.content) pieces.push(piece);
    return writeNewFile(directory, name, Buffer.concat(pieces), as);
  }
  const handle = await createFile(directory, name);
  try {
    for await (const piece of entry.content) await handle.writeFile(piece);
    const time = hostSeconds(secondsOf(as.mtime));
    await handle.utimes(time, time);
    await handle.chmod(as.mode);
  } finally {
    await handle.close();
  }
}
