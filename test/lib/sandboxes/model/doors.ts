import { buffer } from 'node:stream/consumers';
import { fromLatin1, ROOT_PATH } from '../../../../lib/byte-string.ts';
import type { FileChange } from '../../../../lib/contract/messages.ts';
import { ServiceError } from '../../../../lib/errors.ts';
import { Errno } from '../../../../lib/linux/errno.ts';
import { type FileSession, withFiles } from '../../../../lib/sandboxes/files/session.ts';
import type { FileStatus, OpenedFile } from '../../../../lib/workspaces/workspace-files.ts';
import { readMembers } from '../../archive/read-members.ts';
import { Programs } from '../../workspaces/programs.ts';
import { CANARY } from './canary.ts';
import type { Server } from './server.ts';
import { directory, file, symlink } from './tree.ts';

const ROOT = 1;
const READ_BYTES = 1 << 18;

/** In the place of what is shown and may not be read. */
export const UNREADABLE = 'x';
const UNREADABLE_LINK = 'l x';

export class SandboxPrograms extends Programs {
  readonly fs;
  readonly workspaceId: string;
  readonly caller;
  readonly #into = Buffer.alloc(READ_BYTES);
  readonly #names: readonly string[];
  /** Of everything that was shown, since it was last emptied. */
  readonly inodes = new Set<number>();

  /** `names`: looked up in every directory, listed or not. */
  constructor({ fs }: Server, id: string, uid: number, names: readonly string[]) {
    super();
    this.fs = fs;
    this.workspaceId = id;
    this.caller = { uid, gid: uid, pid: 77 };
    this.#names = names;
  }

  /** Everything that the kernel's requests show; it knows all of that from then on. Modes are left out: they say what may be done, not what is stored. */
  seen(): Map<string, string> {
    const tree = new Map<string, string>();
    const root = this.count(this.fs.lookup(this.caller, ROOT, fromLatin1(this.workspaceId))!);
    this.#see(root.nodeid, '', tree);
    return tree;
  }

  #see(dir: number, path: string, tree: Map<string, string>): void {
    const listed = new Map<string, number>();
    refusable(() =>
      this.fs.readdir(this.caller, dir, 0, true, (name, _cookie, ino, type, entry) => {
        if (name === '.' || name === '..') return true;
        listed.set(name, type);
        this.inodes.add(ino);
        this.count(entry);
        return true;
      }),
    );
    for (const name of new Set([...listed.keys(), ...this.#names])) {
      const entry = this.count(refusable(() => this.fs.lookup(this.caller, dir, fromLatin1(name))));
      const at = path === '' ? name : `${path}/${name}`;
      if ((entry === undefined) === listed.has(name)) {
        throw new Error(`${at} is ${entry === undefined ? 'listed and not found' : 'found and not listed'}`);
      }
      if (entry === undefined) continue;
      const { mode, ino } = entry.attr;
      if (mode >> 12 !== listed.get(name)) throw new Error(`${at} is listed as another type than it has`);
      this.inodes.add(ino);
      if (mode >> 12 === 4) {
        tree.set(at, 'd');
        this.#see(entry.nodeid, at, tree);
      } else if (mode >> 12 === 10) {
        tree.set(
          at,
          refusable(() => symlink(this.fs.readlink(this.caller, entry.nodeid).toString())) ?? UNREADABLE_LINK,
        );
      } else {
        const length = refusable(() => this.fs.read(this.caller, entry.nodeid, 0, this.#into));
        if (length !== undefined && length !== entry.attr.size) {
          throw new Error(`${at}: ${length} bytes are read of ${entry.attr.size}`);
        }
        tree.set(at, length === undefined ? UNREADABLE : `f ${this.#into.toString('latin1', 0, length)}`);
      }
    }
  }
}

/** undefined: it was refused, or is not there. */
function refusable<T>(call: () => T): T | undefined {
  try {
    return call();
  } catch (error) {
    if (error instanceof Errno && [2, 13].includes(error.errno)) return undefined;
    throw error;
  }
}

/** As `seen`, by the file API. */
export function agentFiles(server: Server, id: string): Promise<Map<string, string>> {
  return server.call(() =>
    withFiles(id, 'agent', server.context, async (files) => {
      const tree = new Map<string, string>();
      for (const entry of await everything(files)) {
        if (entry.mode >> 12 === 4) tree.set(entry.path, 'd');
        else if (entry.mode >> 12 === 10) {
          tree.set(entry.path, entry.target === undefined ? UNREADABLE_LINK : symlink(entry.target));
        } else {
          const content = await read(files, entry).catch((error: unknown) => {
            if (error instanceof ServiceError && error.code === 'PERMISSION_DENIED') return undefined;
            throw new Error(`${entry.path} is listed and cannot be read: ${error}`);
          });
          tree.set(entry.path, content === undefined ? UNREADABLE : `f ${content}`);
        }
      }
      return tree;
    }),
  );
}

/** What the sandbox has, whatever its rules; asked without a thread in between where it is up. */
export function ownerTree(server: Server, id: string): Promise<Map<string, string>> {
  return server.call(async () => {
    if (!server.context.find(id).attached) return withFiles(id, 'owner', server.context, treeOf);
    return treeOf({ call: async (operation, ...args) => server.fs.files(id, 'owner', operation, args) as never });
  });
}

async function treeOf(files: Pick<FileSession, 'call'>): Promise<Map<string, string>> {
  const tree = new Map<string, string>();
  for (const entry of await everything(files)) {
    const mode = entry.mode & 0o777;
    if (entry.mode >> 12 === 4) tree.set(entry.path, directory(mode));
    else if (entry.mode >> 12 === 10) tree.set(entry.path, symlink(entry.target!));
    else tree.set(entry.path, file(await read(files, entry), mode));
  }
  return tree;
}

async function everything(files: Pick<FileSession, 'call'>): Promise<FileStatus[]> {
  const { entries, more } = await files.call('list', ROOT_PATH, true, ROOT_PATH, 5000);
  if (more) throw new Error('there are more than 5000 files');
  const outside = entries.find(({ path }) => path.includes(CANARY));
  if (outside) throw new Error(`${outside.path} is listed, which is outside of the codebase`);
  return entries;
}

async function read(files: Pick<FileSession, 'call'>, entry: FileStatus): Promise<string> {
  const opened = (await files.call('open', entry.path, true)) as OpenedFile;
  let content = Buffer.from(opened.data).toString('latin1');
  if (opened.handle !== 0) {
    const more = await files.call('read', opened.handle, opened.version, content.length, opened.size - content.length);
    content += Buffer.from(more).toString('latin1');
    await files.call('close', [opened.handle]);
  }
  if (content.length !== opened.size || opened.size !== entry.size) {
    throw new Error(`${entry.path}: ${content.length} bytes are read of ${entry.size}`);
  }
  return content;
}

/** The files and symlinks of an archive. */
async function archived(archive: AsyncIterable<Uint8Array>): Promise<Map<string, string>> {
  const tree = new Map<string, string>();
  for (const { path, type, target, content } of await readMembers(archive)) {
    if (type === 'file') tree.set(path, `f ${content.toString('latin1')}`);
    else if (type === 'symlink') tree.set(path, symlink(target));
    else tree.set(path.replace(/\/$/, ''), 'd');
  }
  return tree;
}

export async function agentArchive(server: Server, id: string): Promise<Map<string, string>> {
  return server.call(async () =>
    archived(await server.sandboxes.exportFiles({ sandbox_id: id, as: 'agent', path: '', format: 'tar' })),
  );
}

export async function changesOf(server: Server, id: string, diff = false): Promise<FileChange[]> {
  const { changes, next_page_token } = await server.call(() =>
    server.sandboxes.listChanges(id, { page_size: 1000, page_token: '' }, 'owner', { diff }),
  );
  if (next_page_token !== '') throw new Error('there are more than 1000 changes');
  return changes;
}

export function changedFiles(server: Server, id: string): Promise<Map<string, string>> {
  return server.call(async () => archived(await server.sandboxes.exportChanges(id, 'tar')));
}

export async function patchOf(server: Server, id: string): Promise<string> {
  const bytes = await server.call(async () => buffer(await server.sandboxes.exportChanges(id, 'patch')));
  return bytes.toString('latin1');
}
