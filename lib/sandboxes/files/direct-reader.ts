import type { FileHandle } from 'node:fs/promises';
import { HostFileReader } from '../../host-tree/host-file.ts';
import type { OpenedFile } from '../../workspaces/workspace-files.ts';
import type { FileSession } from './session.ts';

/** The file, and while it is opened its directory. */
const DESCRIPTORS = 2;

/**
 * Reads the contents of an opened file from the host file that has them, without the request worker. It is asked only if
 * something has changed in the sandbox since: nothing is returned that it would have refused or read differently. A change
 * of the codebase is not one of the sandbox: the reader goes on with the version that it opened. The caller closes it.
 */
export class DirectReader {
  readonly #files: FileSession;
  readonly #file: OpenedFile;
  readonly #handle: FileHandle;
  readonly #giveBack: () => void;
  #checked: number | undefined;

  private constructor(files: FileSession, file: OpenedFile, handle: FileHandle, giveBack: () => void) {
    this.#files = files;
    this.#file = file;
    this.#handle = handle;
    this.#giveBack = giveBack;
    this.#checked = file.warnings;
  }

  /** undefined: the contents must be read by the request worker. */
  static async open(files: FileSession, file: OpenedFile): Promise<DirectReader | undefined> {
    const giveBack = file.host && files.lend(DESCRIPTORS);
    if (file.host === undefined || giveBack === undefined) return undefined;
    const reader = new HostFileReader(1);
    // A failure is that of the request worker, too, or there is no descriptor.
    const handle = await reader.open(file.host).catch(() => undefined);
    await reader.close();
    if (handle !== undefined) return new DirectReader(files, file, handle, giveBack);
    giveBack();
    return undefined;
  }

  /** Reads up to `length` bytes at byte `offset`; errors as those of `WorkspaceFiles.read`. */
  read(offset: number, length: number): Promise<Uint8Array> {
    return this.#files.direct(async () => {
      const into = Buffer.allocUnsafeSlow(length);
      const { bytesRead } = await this.#handle.read(into, 0, length, offset);
      // Contents change after the warning only, so a read without one before or during it is not mixed.
      if (this.#files.warnings !== this.#checked) {
        this.#checked = await this.#files.call('check', this.#file.handle, this.#file.version);
      }
      return into.subarray(0, bytesRead);
    });
  }

  async close(): Promise<void> {
    try {
      await this.#handle.close();
    } finally {
      this.#giveBack();
    }
  }
}
