import { checkTarget, memberPath, requireNamed } from '../../archive/member-path.ts';
import type { Entry } from '../../archive/tar-header.ts';
import type { ArchiveSink } from '../../archive/tar-reader.ts';
import type { ByteString } from '../../byte-string.ts';
import type { ArchiveMember } from '../../workspaces/workspace-files.ts';
import type { FileSession } from './session.ts';

/** Contents up to this size in bytes are sent together with others; the workspace stores them together, too. */
const SMALL = 64 * 1024;
/** Bytes and members of one call: some milliseconds of the workspace's thread. */
const BATCH_BYTES = 256 * 1024;
const BATCH_MEMBERS = 256;

type FileMember = ArchiveMember & { type: 'file' };
/** A part of a large file: its begin, bytes, or its end. */
type Part = { member: FileMember; bytes: Buffer | undefined; isLast: boolean };

/** Sends the members of an archive to a workspace, many small ones at once. Holds about one batch in memory. */
export class MemberBatch implements ArchiveSink {
  readonly #files: FileSession;
  readonly #unpacking: number;
  #members: ArchiveMember[] = [];
  #data: Buffer[] = [];
  #bytes = 0;
  /** The file whose content is being read; undefined: none, or one that is left out. */
  #file: FileMember | undefined;
  #parts: Part[] = [];
  #sending: Promise<void> = Promise.resolve();
  readonly #handles = new Set<number>();

  constructor(files: FileSession, unpacking: number) {
    this.#files = files;
    this.#unpacking = unpacking;
  }

  begin(entry: Entry): void {
    const path = memberPath(entry.path);
    if (path === '') requireNamed(entry);
    else this.#add(path, entry);
  }

  content(bytes: Buffer): void {
    const member = this.#file!;
    if (member.size > SMALL) {
      this.#parts.push({ member, bytes, isLast: false });
      return;
    }
    this.#data.push(bytes);
    this.#bytes += bytes.length;
  }

  end(): void {
    const member = this.#file!;
    this.#file = undefined;
    this.#members.push(member);
    if (member.size > SMALL) this.#parts.push({ member, bytes: undefined, isLast: true });
  }

  /** Call after each piece of the archive: sends what large files have of it, and a full batch. */
  async sendLarge(): Promise<void> {
    const parts = this.#parts;
    this.#parts = [];
    for (const { member, bytes, isLast } of parts) {
      member.handle ??= await this.#stage();
      // Its own memory: a message has the whole memory that a part refers to.
      if (bytes !== undefined) await this.#files.call('append', member.handle, new Uint8Array(bytes));
      if (isLast) await this.#files.call('seal', member.handle, member.mode, member.mtime);
    }
    // Also within a content: the pieces of an archive may all end within one.
    if (this.#bytes >= BATCH_BYTES || this.#members.length >= BATCH_MEMBERS) await this.#send();
  }

  /** Sends the rest. */
  async flush(): Promise<void> {
    await this.#send();
    await this.#sending;
  }

  /** Ends unpacking after a failure. */
  async drop(): Promise<void> {
    await this.#sending.catch(() => undefined);
    await this.#files.call('dropUnpack', this.#unpacking).catch(() => undefined);
    const handles = [...this.#handles];
    if (handles.length > 0) await this.#files.call('close', handles).catch(() => undefined);
  }

  #add(path: ByteString, { type, mode, mtime, size, target }: Entry): void {
    if (type === 'file') {
      this.#file = { path, type, mode, mtime, size, at: this.#bytes };
    } else if (type === 'directory') {
      this.#members.push({ path, type, mode, mtime });
    } else if (type === 'symlink') {
      checkTarget(path, target);
      this.#members.push({ path, type, target, mtime });
    } else {
      this.#members.push({ path, type, target: memberPath(target) });
    }
  }

  async #stage(): Promise<number> {
    const handle = await this.#files.call('stage', new Uint8Array(0));
    this.#handles.add(handle);
    return handle;
  }

  /** The workspace stores one batch while the next one is read. What a file that is not complete has is kept. */
  async #send(): Promise<void> {
    const all = Buffer.concat(this.#data);
    const end = this.#file?.at ?? all.length;
    const [members, data] = [this.#members, all.subarray(0, end)];
    this.#members = [];
    this.#data = [Buffer.from(all.subarray(end))];
    this.#bytes = all.length - end;
    if (this.#file !== undefined) this.#file.at = 0;
    await this.#sending;
    if (members.length === 0) return;
    this.#sending = this.#files.call('addMembers', this.#unpacking, members, new Uint8Array(data));
    // Its failure is reported by the next wait.
    this.#sending.catch(() => undefined);
  }
}
