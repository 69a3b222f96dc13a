import { lstat, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { FileStat } from 'paddock-sandbox';
import { END, headerOf, type Member, padding, type Refusal, shown, untar } from 'paddock-sandbox/local';
import { CliError } from '../command-line/errors.ts';
import type { Copied, Copy } from './copied.ts';
import { Extraction } from './extract.ts';
import { Landing } from './landing.ts';
import { Omitted } from './omitted.ts';
import { nameOf, shownPath } from './place-of.ts';
import { leadsToDirectory, remoteStat } from './remote.ts';

interface Source {
  path: string;
  contents: boolean;
}

interface Found {
  isDirectory: boolean;
  stat: FileStat;
}

/** What is copied: a directory as an archive, a symlink, or a file. */
async function sourceOf({ path, contents }: Source, copy: Copy): Promise<Found> {
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
  const found = await sourceOf(source, copy);
  const path = await landing(source, local, found.isDirectory);
  const home = await Landing.of(path, { source, local, isDirectory: found.isDirectory }, copy);
  // A directory that is named is the user's, and may be a symlink to one.
  const isNamed = source.contents && (await stat(path).catch(() => undefined))?.isDirectory() === true;
  const [root, name] = isNamed ? [path, ''] : [dirname(path), basename(path)];
  const extraction = new Extraction(root, name, (member) => home.refusal(member));
  try {
    const omitted = found.isDirectory ? await Omitted.of(source.path, copy) : undefined;
    for await (const member of membersOf(source, found, copy)) {
      omitted?.has(member.path);
      const comes = (isNamed && member.path === '') || (await extraction.add(member));
      // Nor what is in it.
      if (!comes && member.path === '') return { ...extraction.end(), path };
    }
    for (const each of omitted?.all() ?? []) extraction.leaveOut(each);
    return { ...extraction.end(), path };
  } catch (error) {
    throw shown(error as Error);
  } finally {
    extraction.close();
  }
}

/** What is copied: itself, whose path is empty, and what is in it. The size of what a symlink leads to is not known: -1. */
async function* membersOf(source: Source, { isDirectory, stat: entry }: Found, copy: Copy): AsyncGenerator<Member> {
  const { mode, target, type, modifiedAt } = entry;
  const named = { path: '', mode: mode & 0o777, mtimeMs: modifiedAt.getTime(), target };
  const self = { ...named, size: 0, content: nowhere() };
  if (isDirectory) {
    yield { ...self, type: 'directory' };
    yield* untar(await archive(source.path, copy));
  } else if (type === 'symlink' && !copy.followLinks) yield { ...self, type: 'symlink' };
  else {
    const [size, own] = type === 'symlink' ? [-1, 0o644] : [entry.size, self.mode];
    const content = copy.progress.count(await contentOf(source.path, copy), size === -1 ? undefined : size);
    yield { ...self, type: 'file', mode: own, size, content };
  }
}

async function* nowhere(): AsyncGenerator<Uint8Array, void, void> {}

async function landing({ path, contents }: Source, local: string, isDirectory: boolean): Promise<string> {
  const found = await stat(local).catch(() => undefined);
  if (found?.isDirectory()) return contents ? local : below(local, nameOf(path));
  // The threat: a copy to /dev/stdout by root would replace it for all programs.
  if ((await lstat(local).catch(() => undefined))?.isSymbolicLink())
    throw new CliError(`${local} is a symbolic link: name the file itself, or "-" for standard output`);
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

/**
 * The source as an archive; names in it begin with that of the directory, unless its contents are asked for. `tell`: what it
 * does not have.
 */
export async function* packed(
  source: Source,
  copy: Copy,
  tell: (leftOut: { path: string } & Refusal) => void,
): AsyncGenerator<Uint8Array, void, void> {
  const found = await sourceOf(source, copy);
  if (found.isDirectory) for (const each of (await Omitted.of(source.path, copy)).special()) tell(each);
  if (source.contents) {
    // As it is: names that are not UTF-8, too.
    yield* pieces(await archive(source.path, copy));
    return;
  }
  const name = nameOf(source.path);
  for await (const member of membersOf(source, found, copy)) {
    const path = member.path === '' ? name : `${name}/${member.path}`;
    // Its size is part of the header.
    const whole = member.size === -1 ? await coalesced(member.content) : undefined;
    const size = whole?.length ?? member.size;
    yield headerOf({ ...member, path, size });
    let sent = 0;
    for await (const piece of whole ? [whole] : member.content) {
      sent += piece.length;
      yield piece;
    }
    if (sent !== size) throw new CliError(`${shownPath(source.path)} changed while it was copied: try again`);
    if (member.type === 'file') yield padding(size);
  }
  yield END;
}

async function coalesced(content: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const all: Uint8Array[] = [];
  for await (const piece of content) all.push(piece);
  return Buffer.concat(all);
}

/** The directory as a tar archive, whose transfer is shown. */
async function archive(path: string, { files, signal, progress }: Copy): Promise<ReadableStream<Uint8Array>> {
  const stream = pieces(await files.download(path, { signal }));
  return ReadableStream.from(progress.count(stream)) as ReadableStream<Uint8Array>;
}

async function contentOf(path: string, { files, signal }: Copy): Promise<AsyncIterable<Uint8Array>> {
  return pieces(await files.stream(path, { signal }));
}

const pieces = (stream: ReadableStream<Uint8Array>): AsyncIterable<Uint8Array> =>
  stream as unknown as AsyncIterable<Uint8Array>;
