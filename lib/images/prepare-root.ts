import { readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { type ByteString, fromText } from '../byte-string.ts';
import type { Directory } from '../host-tree/directory.ts';
import { writeNewFile } from '../host-tree/new-file.ts';
import type { RootEntry } from '../runtime/root-file-system.ts';
import { invalidImage } from './image-error.ts';
import type { ImageRecord } from './image-record.ts';
import { createLink, makeIn, type RootTree } from './root-tree.ts';

/** Directories that a sandbox has of its own, whatever its image has there. */
const OWN: ReadonlySet<string> = new Set(['dev', 'etc', 'home', 'proc', 'run', 'sys', 'tmp', 'workspace']);
const PLAIN_NAME = /^[A-Za-z0-9._-]{1,64}$/;
const MAX_ENTRIES = 64;
/** Of the image's own list of users or groups. */
const MAX_LIST_BYTES = 64 * 1024;
/** Of a program that is looked into. */
const MAX_PROGRAM_BYTES = 8 << 20;
const TIME = { sec: 0, nsec: 0 };

/** Files of /etc for sandboxes; `lists` are extended by the image's own lines. */
export interface EtcFiles {
  files: Readonly<Record<string, string>>;
  lists: Readonly<Record<string, string>>;
}

/**
 * Makes the unpacked file system of an image fit for sandboxes: replaces files of /etc, and /var/tmp. Returns its
 * top-level entries, and whether its env(1) can reset signals. Throws INVALID_ARGUMENT for an image that cannot run commands.
 */
export async function prepareRoot(
  root: string,
  tree: RootTree,
  etc: EtcFiles,
): Promise<Pick<ImageRecord, 'entries' | 'resetsSignals'>> {
  const shell = await tree.find(fromText('/bin/sh'));
  if (!shell?.isFile || (shell.mode & 0o111) === 0) {
    throw invalidImage('it has no program /bin/sh, which runs the commands of a sandbox');
  }
  await tree.in([], async (top) => {
    await requireDirectory(tree, top, fromText('etc'));
    const hasVar = (await top.lstat(fromText('var')))?.isDirectory() ?? false;
    if (hasVar) await inOwn(top, fromText('var'), (dir) => putLink(tree, dir, fromText('tmp'), fromText('/tmp')));
    await inOwn(top, fromText('etc'), (dir) => writeEtcFiles(tree, dir, join(root, 'etc'), etc));
  });
  const env = await tree.read(fromText('/usr/bin/env'), MAX_PROGRAM_BYTES);
  return { entries: await entriesOf(root), resetsSignals: env?.includes('default-signal') ?? false };
}

async function writeEtcFiles(tree: RootTree, dir: Directory, path: string, { files, lists }: EtcFiles): Promise<void> {
  for (const [name, text] of Object.entries(files)) await putFile(tree, dir, fromText(name), text);
  for (const [name, text] of Object.entries(lists)) {
    const stat = await dir.lstat(fromText(name));
    const own = stat?.isFile() && stat.size <= MAX_LIST_BYTES ? await readFile(join(path, name), 'utf8') : '';
    await putFile(tree, dir, fromText(name), merged(text, own));
  }
}

/** Lines of `name:password:number:…`, of which none has the name or the number of an earlier one. */
function merged(first: string, second: string): string {
  const taken = new Set<string>();
  const kept = `${first}\n${second}`.split('\n').filter((line) => {
    const [name = '', , number = ''] = line.split(':');
    if (name === '' || number === '' || taken.has(name) || taken.has(`:${number}`)) return false;
    taken.add(name).add(`:${number}`);
    return true;
  });
  return `${kept.join('\n')}\n`;
}

async function inOwn(top: Directory, name: ByteString, task: (dir: Directory) => Promise<void>): Promise<void> {
  const dir = await top.directory(name);
  try {
    await task(dir);
  } finally {
    await dir.close();
  }
}

/** Creates the directory, in place of anything else. */
async function requireDirectory(tree: RootTree, dir: Directory, name: ByteString): Promise<void> {
  const stat = await dir.lstat(name);
  if (stat?.isDirectory()) return;
  if (stat !== undefined) await tree.remove(dir, name);
  await (await makeIn(dir, name)).close();
}

async function putLink(tree: RootTree, dir: Directory, name: ByteString, target: ByteString): Promise<void> {
  if ((await dir.lstat(name)) !== undefined) await tree.remove(dir, name);
  await createLink(dir, name, target);
}

async function putFile(tree: RootTree, dir: Directory, name: ByteString, text: string): Promise<void> {
  if ((await dir.lstat(name)) !== undefined) await tree.remove(dir, name);
  await writeNewFile(dir, name, Buffer.from(text), { mode: 0o644, mtime: TIME });
}

async function entriesOf(root: string): Promise<RootEntry[]> {
  const entries: RootEntry[] = [];
  for (const each of await readdir(root, { withFileTypes: true })) {
    const { name } = each;
    if (OWN.has(name) || !PLAIN_NAME.test(name)) continue;
    if (each.isSymbolicLink()) entries.push({ name, link: await readlink(join(root, name)) });
    else if (each.isDirectory()) {
      const empty = (await readdir(join(root, name))).length === 0;
      entries.push(empty ? { name, empty } : { name });
    }
  }
  if (entries.length > MAX_ENTRIES) throw invalidImage(`it has more than ${MAX_ENTRIES} directories at its root`);
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
}
