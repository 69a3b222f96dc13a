import { setImmediate } from 'node:timers/promises';
import { invalidArchive } from '../../archive/invalid-archive.ts';
import { badLink, belowOther, checkTarget, memberPath, requireNamed, twoTypes } from '../../archive/member-path.ts';
import { readArchive } from '../../archive/read-archive.ts';
import type { Entry } from '../../archive/tar-header.ts';
import { TarReader } from '../../archive/tar-reader.ts';
import { type ByteString, parentOf, splitPath } from '../../byte-string.ts';
import type { ImportFilesRequest, ImportFilesResponse } from '../../contract/messages.ts';
import type { ArchiveAccess } from '../../services.ts';
import type { Unpacked } from '../../workspaces/workspace-files.ts';
import type { SandboxContext } from '../context.ts';
import { directoryPath } from './paths.ts';
import { type FileSession, withFiles } from './session.ts';
import { drop } from './write-file.ts';

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
      const events = new Events();
      const reader = new TarReader(events);
      await readArchive(archive, context.platform.unzstd, async (piece) => {
        reader.feed(piece);
        for (const event of events.take()) await members.handle(event);
        return reader.isDone;
      });
      reader.finish();
      await files.call('unpack', top, await members.inOrder());
      return members.count();
    } finally {
      // Members that were replaced by later ones have unused staged files.
      await members.drop();
    }
  });
}

type Event = Entry | Buffer | 'end';

/** What a reader passes on of one piece of an archive. */
class Events {
  #events: Event[] = [];

  take(): Event[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  begin(entry: Entry): void {
    this.#events.push(entry);
  }

  content(bytes: Buffer): void {
    this.#events.push(bytes);
  }

  end(): void {
    this.#events.push('end');
  }
}

class Members {
  readonly #files: FileSession;
  readonly #byPath = new Map<ByteString, Unpacked & { size: number }>();
  readonly #handles = new Set<number>();
  #count = 0;
  #file: { handle: number; entry: Entry } | undefined;

  constructor(files: FileSession) {
    this.#files = files;
  }

  async handle(event: Event): Promise<void> {
    if (event === 'end') {
      const { handle, entry } = this.#file!;
      await this.#files.call('seal', handle, entry.mode, entry.mtime);
    } else if (Buffer.isBuffer(event)) {
      await this.#files.call('append', this.#file!.handle, new Uint8Array(event));
    } else {
      await this.#add(event);
    }
  }

  async #add(entry: Entry): Promise<void> {
    if (++this.#count > MAX_MEMBERS) throw invalidArchive(`it has more than ${MAX_MEMBERS} members`);
    const path = memberPath(entry.path);
    if (path === '') {
      requireNamed(entry);
      return;
    }
    const before = this.#byPath.get(path);
    if (before?.type === 'directory' && entry.type !== 'directory') {
      throw twoTypes(path);
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
        throw belowOther(member.path, parent.path);
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
      checkTarget(path, target);
      return { path, type, target, size: 0 };
    }
    if (type === 'link') {
      const of = this.#byPath.get(memberPath(target));
      if (of?.type !== 'file') throw badLink(path);
      return { ...of, path, size: 0 };
    }
    const handle = await this.#files.call('stage', new Uint8Array(0));
    this.#handles.add(handle);
    this.#file = { handle, entry };
    return { path, type, handle, size: entry.size };
  }
}
