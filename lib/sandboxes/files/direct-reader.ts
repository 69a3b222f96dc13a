import type { FileHandle } from 'node:fs/promises';
import { HostFileReader } from '../../host-tree/host-file.ts';
import type { OpenedFile } from '../../workspaces/workspace-files.ts';
import type { FileSession } from './session.ts';

/**
 * Reads the contents of an opened file from the host file that has them, without the request worker. It is asked only if
 * something has changed in the sandbox since: nothing is returned that it would have refused or read differently. The
 * caller closes it.
 */
export class DirectReader {
  readonly #files: FileSession;
  readonly #file: OpenedFile;
  readonly #handle: FileHandle;
  #checked: number | undefined;

  private constructor(files: FileSession, file: OpenedFile, handle: FileHandle) {
    this.#files = files;
    this.#file = file;
    this.#handle = handle;
    this.#checked = file.warnings;
  }

  /** undefined: the contents must be read by the request worker. */
  static async open(files: FileSession, file: OpenedFile): Promise<DirectReader | undefined> {
    if (file.host === undefined) return undefined;
    const reader = new HostFileReader();
    try {
      const handle = await reader.open(file.host);
      return handle && new DirectReader(files, file, handle);
    } catch {
      // For example, no descriptor is free.
      return undefined;
    } finally {
      await reader.close();
    }
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

  close(): Promise<void> {
    return this.#handle.close();
  }
}
