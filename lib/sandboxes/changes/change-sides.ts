import type { FileHandle } from 'node:fs/promises';
import { type ByteString, toBuffer } from '../../byte-string.ts';
import { HostFileReader } from '../../host-tree/host-file.ts';
import type { ObjectFormat } from '../../patch/git-binary.ts';
import type { PatchSide } from '../../patch/patch.ts';
import type { RedactedTexts, WorkspaceChange } from '../../workspaces/workspaces.ts';
import type { Platform } from '../lifecycle/bring-up.ts';
import { changed, HolesLeft, hostFile } from './host-file.ts';
import { objectFormat } from './object-format.ts';
import { PresentContents } from './present-contents.ts';
import { typeOf } from './shown-change.ts';

/** Directories kept open in each of the trees that are read: files are read one at a time, in order of their paths. */
const OPEN_DIRECTORIES = 4;
/** Descriptors of a reader: two trees, and files that are open. */
export const SIDES_DESCRIPTORS = 2 * OPEN_DIRECTORIES + 4;

/** `texts`: of a file with placeholders, what the agent is shown. */
export type ReadChange = WorkspaceChange & { texts?: RedactedTexts };

/** Calls the file system while the sandbox's workspace is attached. */
export type Attached = <T>(task: (mount: Platform['mount']) => Promise<T>) => Promise<T>;

interface Trees {
  id: string;
  /** Host directory of the codebase's files. */
  base: string;
  attached: Attached;
}

/** Reads what a sandbox and its codebase have at changes. The caller must close it. */
export class ChangeSides {
  readonly #base: string;
  readonly #reader: HostFileReader;
  readonly #holes = new HolesLeft();
  readonly contents: PresentContents;

  private constructor(base: string, reader: HostFileReader, contents: PresentContents) {
    this.#base = base;
    this.#reader = reader;
    this.contents = contents;
  }

  static async open(changes: readonly WorkspaceChange[], { id, base, attached }: Trees): Promise<ChangeSides> {
    const reader = new HostFileReader(OPEN_DIRECTORIES);
    const small = (inodes: readonly number[]) => attached((mount) => mount.contents(id, inodes));
    const text = (path: ByteString) => attached(async (mount) => (await mount.redactedTexts(id, path, 'commit')).now);
    return new ChangeSides(base, reader, await PresentContents.make(changes, small, text, reader));
  }

  close(): Promise<void> {
    return this.#reader.close();
  }

  /** That of the codebase's repository. */
  objectFormat(): Promise<ObjectFormat> {
    return objectFormat(this.#base, this.#reader);
  }

  /** Calls `use` with the host file that a side is in as it is; undefined: it is in none. ABORTED if it is gone. */
  async opened<T>(
    side: 'now' | 'base',
    { path, now }: WorkspaceChange,
    use: (handle: FileHandle) => Promise<T>,
  ): Promise<T | undefined> {
    const file = side === 'base' ? { root: this.#base, path } : now?.isText ? undefined : now?.hostFile;
    if (file === undefined) return undefined;
    const handle = await this.#reader.open(file);
    if (handle === undefined) throw changed();
    try {
      return await use(handle);
    } finally {
      await handle.close();
    }
  }

  /** git does not track directories. */
  async present(change: ReadChange): Promise<PatchSide | undefined> {
    const { now, texts } = change;
    if (now !== undefined && texts?.now !== undefined) return bytesSide(texts.now, gitMode(now.mode));
    if (now?.target !== undefined) return bytesSide(toBuffer(now.target));
    if (now === undefined || typeOf(now) !== 'TYPE_FILE') return undefined;
    const { mode, size, hostFile: file } = now;
    const isLeftOut = file !== undefined && !(await this.#holes.take(file, size, this.#reader));
    return { mode: gitMode(mode), size, content: () => this.contents.of(change), isLeftOut };
  }

  async base({ base, path, texts }: Pick<ReadChange, 'base' | 'path' | 'texts'>): Promise<PatchSide | undefined> {
    if (base === undefined) return undefined;
    if (texts?.base !== undefined) return bytesSide(texts.base, gitMode(base.mode));
    const file = { root: this.#base, path };
    if (typeOf(base) === 'TYPE_SYMLINK') {
      const target = await this.#reader.readlink(file);
      if (target === undefined) throw changed();
      return bytesSide(target);
    }
    if (typeOf(base) !== 'TYPE_FILE') return undefined;
    const { mode, size } = base;
    const isLeftOut = !(await this.#holes.take(file, size, this.#reader));
    return { mode: gitMode(mode), size, content: () => hostFile(file, size, this.#reader), isLeftOut };
  }
}

export async function bytesOf(side: PatchSide): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const bytes of side.content()) parts.push(bytes);
  return Buffer.concat(parts);
}

function bytesSide(bytes: Uint8Array, mode: PatchSide['mode'] = '120000'): PatchSide {
  return {
    mode,
    size: bytes.length,
    async *content() {
      yield bytes;
    },
  };
}

function gitMode(mode: number): string {
  return mode & 0o100 ? '100755' : '100644';
}
