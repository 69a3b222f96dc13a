import { setImmediate } from 'node:timers/promises';
import { type ByteString, DOT_DOT, joinNames, parentOf, quote, splitPath } from '../../byte-string.ts';
import type { ImportFilesRequest, ImportFilesResponse } from '../../contract/messages.ts';
import { type Entry, invalid, untar } from '../../patch/untar.ts';
import { MAX_LINK_TARGET_BYTES, MAX_NAME_BYTES, MAX_PATH_BYTES } from '../../path-limits.ts';
import type { ArchiveAccess } from '../../services.ts';
import type { Unpacked } from '../../workspaces/workspace-files.ts';
import type { SandboxContext } from '../context.ts';
import { directoryPath } from './paths.ts';
import { type FileSession, withFiles } from './session.ts';
import { drop, stageContent } from './write-file.ts';

/** Members are held in memory until the end and linked at once, while the sandbox waits. */
const MAX_MEMBERS = 100_000;
/** Members put in order in one step. */
const MEMBERS_PER_STEP = 1000;

/**
 * Imports an archive atomically: contents are staged as they arrive and linked at the end. If an archive has a path
 * twice, the last one counts.
 */
export function importFiles(
  { sandbox_id, as, path }: ArchiveAccess<ImportFilesRequest>,
  archive: AsyncIterable<Uint8Array>,
  context: SandboxContext,
): Promise<ImportFilesResponse> {
  const top = directoryPath('path', path);
  return withFiles(sandbox_id, as, context, async (files) => {
    await files.call('mayUnpack', top);
    const members = new Members(files);
    try {
      for await (const entry of untar(archive)) await members.add(entry);
      await files.call('unpack', top, await members.inOrder());
      return members.count();
    } finally {
      // Members that were replaced by later ones have unused staged files.
      await members.drop();
    }
  });
}

class Members {
  readonly #files: FileSession;
  readonly #byPath = new Map<ByteString, Unpacked & { size: number }>();
  readonly #handles = new Set<number>();
  #count = 0;

  constructor(files: FileSession) {
    this.#files = files;
  }

  async add(entry: Entry): Promise<void> {
    if (++this.#count > MAX_MEMBERS) throw invalid(`it has more than ${MAX_MEMBERS} members`);
    const path = memberPath(entry.path);
    if (path === '') {
      if (entry.type !== 'directory') throw invalid('a member has no name');
      return;
    }
    const before = this.#byPath.get(path);
    if (before?.type === 'directory' && entry.type !== 'directory') {
      throw invalid(`${quote(path)} is a directory and another type`);
    }
    this.#byPath.set(path, await this.#member(path, entry));
  }

  /** Directories before their entries, as `unpack` requires. In steps, without sorting: there may be 100,000. */
  async inOrder(): Promise<Unpacked[]> {
    const byDepth: Unpacked[][] = [];
    const others: Unpacked[] = [];
    let looked = 0;
    for (const { size: _, ...member } of this.#byPath.values()) {
      if (++looked % MEMBERS_PER_STEP === 0) await setImmediate();
      const parent = this.#byPath.get(parentOf(member.path));
      if (parent !== undefined && parent.type !== 'directory') {
        throw invalid(`${quote(member.path)} is below ${quote(parent.path)}, which is not a directory`);
      }
      if (member.type !== 'directory') {
        others.push(member);
        continue;
      }
      const depth = splitPath(member.path).length;
      const alike = byDepth[depth] ?? [];
      byDepth[depth] = alike;
      alike.push(member);
    }
    return [...byDepth.flat(), ...others];
  }

  count(): ImportFilesResponse {
    const all = [...this.#byPath.values()];
    const of = (type: Unpacked['type']) => all.filter((member) => member.type === type).length;
    return {
      files: of('file'),
      directories: of('directory'),
      symlinks: of('symlink'),
      size: all.reduce((sum, { size }) => sum + size, 0),
    };
  }

  drop(): Promise<void> {
    return drop(this.#files, [...this.#handles]);
  }

  async #member(path: ByteString, entry: Entry): Promise<Unpacked & { size: number }> {
    const { type, mode, target } = entry;
    if (type === 'directory') return { path, type, mode, size: 0 };
    if (type === 'symlink') {
      if (target === '' || target.length > MAX_LINK_TARGET_BYTES || target.includes('\0')) {
        throw invalid(
          `${quote(path)} is a symbolic link whose target is empty, has a NUL, or has more than ${MAX_LINK_TARGET_BYTES} bytes`,
        );
      }
      return { path, type, target, size: 0 };
    }
    if (type === 'link') {
      const of = this.#byPath.get(memberPath(target));
      if (of?.type !== 'file')
        throw invalid(`${quote(path)} is a hard link to a path that is not an earlier file of the archive`);
      return { ...of, path, size: 0 };
    }
    const handle = await stageContent(this.#files, entry.content);
    this.#handles.add(handle);
    await this.#files.call('seal', handle, mode, entry.mtime);
    return { path, type, handle, size: entry.size };
  }
}

/** Normalizes the path of a member (`./a/`). Throws for every path that is not below the target directory. */
function memberPath(path: ByteString): ByteString {
  const names = splitPath(path).filter((name) => name !== '' && name !== '.');
  const at = joinNames(names);
  if (path.startsWith('/')) throw invalid(`${quote(path)} is an absolute path`);
  if (names.includes(DOT_DOT)) throw invalid(`${quote(path)} contains ".."`);
  if (path.includes('\0')) throw invalid(`${quote(path)} contains a NUL`);
  if (at.length > MAX_PATH_BYTES) throw invalid(`${quote(path)} has more than ${MAX_PATH_BYTES} bytes`);
  if (names.some((name) => name.length > MAX_NAME_BYTES)) {
    throw invalid(`${quote(path)} has more than ${MAX_NAME_BYTES} bytes in one name`);
  }
  return at;
}
