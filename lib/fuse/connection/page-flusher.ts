import { spawn } from 'node:child_process';
import { type AnsweringProcess, Children } from './children.ts';

/** Opens each file that is named on a line, closes it, and says whether that succeeded. */
const SCRIPT = 'while IFS= read -r path; do if true <"$path"; then echo 1; else echo 0; fi; done';

/**
 * Writes dirty pages of memory mappings back: closing a file does (fuse_flush), whoever has mapped it. Nothing else is
 * sent, because OPEN, FLUSH and RELEASE are answered with ENOSYS. The caller calls `close`.
 */
export class PageFlusher {
  readonly #children: Children;

  /** `spawnShell`: tests use another one. */
  constructor(
    spawnShell: () => AnsweringProcess = () =>
      spawn('/bin/sh', ['-c', SCRIPT], { cwd: '/', stdio: ['pipe', 'pipe', 'ignore'] }),
  ) {
    this.#children = new Children(spawnShell);
  }

  /**
   * Opens and closes regular files, one after the other. Returns whether every one could be opened; undefined: a child had to be
   * killed.
   */
  flush(paths: Iterable<string>): Promise<boolean | undefined> {
    return this.#children.ask(paths);
  }

  /** Ends the children when they have answered. */
  close(): void {
    this.#children.close();
  }
}
