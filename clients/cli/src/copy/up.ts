import { constants } from 'node:fs';
import { lstat, open, readlink, stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import type { Body } from 'paddock-sandbox';
import { archiveOf, END, headerOf, padding } from 'paddock-sandbox/local';
import { CliError } from '../command-line/errors.ts';
import type { Copied, Copy } from './copied.ts';
import { below } from './place-of.ts';
import { leadsToDirectory, remoteStat } from './remote.ts';

interface Target {
  path: string;
  slash: boolean;
}

interface Landing {
  /** Directory that the archive is unpacked into. */
  into: string;
  /** Path that the copy has. */
  path: string;
}

/** Copies a local file, symlink or directory. The names of a copy appear at once, or none does. */
export async function copyUp(local: string, target: Target, copy: Copy): Promise<Copied & { path: string }> {
  const found = await (copy.followLinks ? stat(local) : lstat(local)).catch((error: NodeJS.ErrnoException) => {
    throw new CliError(error.code === 'ENOENT' ? `there is no ${local}` : error.message);
  });
  const isDirectory = found.isDirectory() || (/\/\.?$/.test(local) && (await stat(local)).isDirectory());
  if (isDirectory) {
    const { path } = await landing(local, target, true, copy);
    const { signal } = copy;
    const isNew = path !== '' && (await remoteStat(path, copy)).kind === undefined;
    if (isNew) await copy.files.mkdir(path, { signal, parents: true, mode: found.mode & 0o777 });
    return { ...(await unpack(archiveOf(local, copy.pack), path, copy)), path };
  }
  const { into, path } = await landing(local, target, false, copy);
  const name = path.slice(into === '' ? 0 : into.length + 1);
  if (found.isSymbolicLink()) {
    const entry = { path: name, type: 'symlink', mode: 0o777, mtimeMs: found.mtimeMs, size: 0 } as const;
    const header = headerOf({ ...entry, target: await readlink(local) });
    return { ...(await unpack(() => pieces([header, END]), into, copy)), path };
  }
  if (!found.isFile()) throw new CliError(`${local} is neither a file nor a directory`);
  return { ...(await unpack(() => fileArchive(local, name), into, copy, found.size)), path };
}

/** Unpacks the archive of standard input into a directory. */
export async function unpackStream(source: AsyncIterable<Uint8Array>, target: Target, copy: Copy): Promise<Copied> {
  const { kind } = await remoteStat(target.path, copy);
  if (kind === undefined) throw new CliError(`${target.path} does not exist in the sandbox`);
  if (kind !== 'directory' && !(kind === 'symlink' && (await leadsToDirectory(target.path, copy)))) {
    throw new CliError(`${target.path} is not a directory`);
  }
  return unpack(() => source, target.path, copy, undefined, true);
}

async function unpack(
  archive: () => AsyncIterable<Uint8Array>,
  into: string,
  { files, signal, progress }: Copy,
  total?: number,
  once = false,
): Promise<Copied> {
  const counted = () => progress.count(archive(), total);
  // What is read from a pipe cannot be sent a second time.
  const body: Exclude<Body, string> = once ? counted() : counted;
  const { size, ...counts } = await files.upload(body, into, { signal });
  return { ...counts, bytes: size };
}

/** docker's rules: into an existing directory, unless the source ends with "/."; else it gets the name of the target. */
async function landing(local: string, { path, slash }: Target, isDirectory: boolean, copy: Copy): Promise<Landing> {
  const { kind } = await remoteStat(path, copy);
  const exists = kind === 'directory' || (kind === 'symlink' && (await leadsToDirectory(path, copy)));
  if (isDirectory && kind !== undefined && !exists) throw new CliError(`${path} is not a directory`);
  const contents = isDirectory && /(^|\/)\.$/.test(local);
  if ((exists && !contents) || (slash && !isDirectory)) {
    const name = basename(resolve(local));
    if (!exists && kind !== undefined) throw new CliError(`${path} is not a directory`);
    if (name === '') throw new CliError('the root directory has no name: end it with /.');
    return { into: path, path: below(path, name) };
  }
  return { into: path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '', path };
}

async function* fileArchive(local: string, name: string): AsyncGenerator<Uint8Array, void, void> {
  // Not a FIFO that has taken its place since.
  const handle = await open(local, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const { mode, mtimeMs, size } = await handle.stat();
    yield headerOf({ path: name, type: 'file', mode, mtimeMs, size });
    let read = 0;
    // Exactly as many bytes as the header says.
    if (size > 0) {
      for await (const piece of handle.createReadStream({ autoClose: false, end: size - 1 })) {
        read += (piece as Uint8Array).length;
        yield piece as Uint8Array;
      }
    }
    if (read < size) throw new CliError(`${local} became shorter while it was read`);
    yield padding(size);
    yield END;
  } finally {
    await handle.close();
  }
}

async function* pieces(all: readonly Uint8Array[]): AsyncGenerator<Uint8Array, void, void> {
  yield* all;
}
