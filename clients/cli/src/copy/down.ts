import { chmod, lstat, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { FileStat } from '../../../typescript/src/contract/messages.ts';
import { type Parent, shown } from '../../../typescript/src/local/parent.ts';
import { END, headerOf, padding } from '../../../typescript/src/local/tar.ts';
import { untar } from '../../../typescript/src/local/untar.ts';
import { CliError } from '../errors.ts';
import { type Copied, type Copy, nothing } from './copied.ts';
import { Extraction, link, makeDirectory, opened, writeFile } from './extract.ts';
import { Landing } from './landing.ts';
import { nameOf, shownPath } from './place-of.ts';
import { leadsToDirectory, remoteStat } from './remote.ts';

interface Source {
  path: string;
  contents: boolean;
}

/** What is copied: a directory as an archive, a symlink, or a file. */
async function sourceOf({ path, contents }: Source, copy: Copy): Promise<{ isDirectory: boolean; stat: FileStat }> {
  const { kind, stat } = await remoteStat(path, copy);
  if (kind === undefined) throw new CliError(`there is no ${shownPath(path)} in the sandbox`);
  if (kind === 'other') throw new CliError(`${shownPath(path)} is neither a file nor a directory`);
  const follows = kind === 'symlink' && (contents || copy.followLinks);
  const isDirectory = kind === 'directory' || (follows && (await leadsToDirectory(path, copy)));
  if (contents && !isDirectory) throw new CliError(`${shownPath(path)} is not a directory`);
  return { isDirectory, stat: stat! };
}

/** Copies into the local file system, by docker's rules for names. */
export async function copyDown(source: Source, local: string, copy: Copy): Promise<Copied & { path: string }> {
  const { isDirectory, stat: entry } = await sourceOf(source, copy);
  const path = await landing(source, local, isDirectory);
  const isLink = entry.type === 'symlink' && !isDirectory && !copy.followLinks;
  const home = await Landing.of(path, { source, local }, copy);
  const refusal = await home.refusal('', isDirectory ? 'directory' : isLink ? 'symlink' : 'file');
  if (refusal) return { ...nothing(), path, leftOut: [{ path: basename(path), ...refusal }] };
  if (isDirectory) {
    const isNamed = source.contents && (await stat(path).catch(() => undefined))?.isDirectory() === true;
    return { ...(await copyTree(source, path, isNamed, { copy, home, mode: entry.mode & 0o777 })), path };
  }
  const mtimeMs = entry.modifiedAt.getTime();
  const [parent, name] = [await opened(here(dirname(path)), []), basename(path)];
  const place = { parent, name, shown: path };
  try {
    if (isLink) {
      await link(entry.target, place, mtimeMs);
      return { ...nothing(), symlinks: 1, path };
    }
    const content = await contentOf(source.path, copy);
    const mode = entry.type === 'symlink' ? 0o644 : entry.mode;
    const bytes = await writeFile(place, copy.progress.count(content, entry.size), { mode, mtimeMs });
    return { ...nothing(), files: 1, bytes, path };
  } catch (error) {
    throw shown(error as Error);
  } finally {
    await parent.close();
  }
}

const here = (path: string) => ({ path, shown: path });

/** `isNamed`: the path itself is the user's, and may be a symlink to a directory. */
async function copyTree(
  source: Source,
  path: string,
  isNamed: boolean,
  { copy, home, mode }: { copy: Copy; home: Landing; mode: number },
): Promise<Copied> {
  const { target, isNew } = isNamed
    ? { target: await opened(here(path), []), isNew: false }
    : await madeBelow(dirname(path), basename(path));
  const extraction = new Extraction({ path: target.path, shown: path }, (member, type) => home.refusal(member, type));
  try {
    for await (const member of untar(await archive(source.path, copy))) await extraction.add(member);
    const copied = await extraction.end();
    if (isNew) await chmod(target.path, mode);
    return copied;
  } catch (error) {
    throw shown(error as Error);
  } finally {
    await extraction.close();
    await target.close();
  }
}

async function madeBelow(directory: string, name: string): Promise<{ target: Parent; isNew: boolean }> {
  const above = await opened(here(directory), []);
  try {
    const isNew = await makeDirectory(above, name);
    return { target: await opened({ path: above.path, shown: directory }, [name]), isNew };
  } finally {
    await above.close();
  }
}

async function landing({ path, contents }: Source, local: string, isDirectory: boolean): Promise<string> {
  const found = await stat(local).catch(() => undefined);
  if (found?.isDirectory()) return contents ? local : below(local, nameOf(path));
  // Also by a symlink: /dev/stdout.
  if (found && !found.isFile())
    throw new CliError(`${local} is neither a file nor a directory: "-" is standard output`);
  if (found && isDirectory) throw new CliError(`${local} is not a directory`);
  if (!found && !isDirectory && local.endsWith('/')) throw new CliError(`there is no directory ${local}`);
  const parent = dirname(local);
  if (!(await stat(parent).catch(() => undefined))?.isDirectory())
    throw new CliError(`there is no directory ${parent}`);
  return local;
}

/** The threat: a symlink that was there leads what is copied out of the target. */
async function below(target: string, name: string): Promise<string> {
  const path = join(target, name);
  const found = await lstat(path).catch(() => undefined);
  if (found?.isSymbolicLink() && (await stat(path).catch(() => undefined))?.isDirectory())
    throw new CliError(`${path} is a symbolic link to a directory, which is not followed`);
  return path;
}

/** The source as an archive; names in it begin with that of the directory, unless its contents are asked for. */
export async function* packed(source: Source, copy: Copy): AsyncGenerator<Uint8Array, void, void> {
  const { isDirectory, stat: entry } = await sourceOf(source, copy);
  if (source.contents) {
    // As it is: names that are not UTF-8, too.
    yield* pieces(await archive(source.path, copy));
    return;
  }
  const name = nameOf(source.path);
  const [mode, mtimeMs] = [entry.mode, entry.modifiedAt.getTime()];
  if (isDirectory) {
    yield headerOf({ path: name, type: 'directory', mode, mtimeMs, size: 0 });
    for await (const { content, path, ...member } of untar(await archive(source.path, copy))) {
      yield headerOf({ ...member, path: `${name}/${path}` });
      yield* content;
      if (member.type === 'file') yield padding(member.size);
    }
  } else if (entry.type === 'symlink' && !copy.followLinks) {
    yield headerOf({ path: name, type: 'symlink', mode: 0o777, mtimeMs, size: 0, target: entry.target });
  } else {
    const whole: Uint8Array[] = [];
    // Its size is part of the header, and that of a link's target is not known before.
    let size = entry.type === 'symlink' ? undefined : entry.size;
    const content = await contentOf(source.path, copy);
    if (size === undefined) {
      for await (const piece of content) whole.push(piece);
      size = whole.reduce((sum, { length }) => sum + length, 0);
    }
    yield headerOf({ path: name, type: 'file', mode: mode & 0o777, mtimeMs, size });
    let sent = 0;
    for await (const piece of whole.length > 0 ? whole : content) {
      sent += piece.length;
      yield piece;
    }
    if (sent !== size) throw new CliError(`${shownPath(source.path)} changed while it was copied: try again`);
    yield padding(size);
  }
  yield END;
}

/** The directory as a tar archive, whose transfer is shown. */
async function archive(path: string, { files, as, signal, progress }: Copy): Promise<ReadableStream<Uint8Array>> {
  const stream = pieces(await files.download(path, { as, signal }));
  return ReadableStream.from(progress.count(stream)) as ReadableStream<Uint8Array>;
}

async function contentOf(path: string, { files, as, signal }: Copy): Promise<AsyncIterable<Uint8Array>> {
  return pieces(await files.stream(path, { as, signal }));
}

const pieces = (stream: ReadableStream<Uint8Array>): AsyncIterable<Uint8Array> =>
  stream as unknown as AsyncIterable<Uint8Array>;
