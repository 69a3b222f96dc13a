import { rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ServiceError } from '../../errors.ts';
import type { Shares } from '../../shares.ts';
import type { Turns } from '../../turns.ts';
import { AGENT_DIR } from './places.ts';
import { type ScriptPart, scriptPieces } from './script-part.ts';

/** tmpfs allocates in pages. */
const PAGE = 4096;

export interface ScriptHost {
  /** Host directory shown at AGENT_DIR. */
  dir: string;
  /** Byte budget of the file system of `dir`, shared by all sandboxes. */
  room: Shares<object>;
  /** Shared by all sandboxes: one piece of a long script is written per turn of the event loop. */
  paces: { scripts: Pick<Turns, 'next'> };
}

/** A script too long for a runner's pipe, in a file that the runner reads. The owner must call `release`. */
export class LongScript {
  /** The line that makes a runner execute the script. */
  readonly line: string;
  readonly #path: string;
  readonly #host: ScriptHost;
  #bytes = 0;
  #pages = 0;
  #released = false;

  private constructor(host: ScriptHost, name: string) {
    this.line = `. ${AGENT_DIR}/${name}\n`;
    this.#path = join(host.dir, name);
    this.#host = host;
  }

  /**
   * Writes the file `name`, which must not exist, in steps. The threat: many commands of a megabyte at once keep the
   * main thread quoting. Throws RESOURCE_EXHAUSTED if the sandbox's share of the file system has no room for it.
   */
  static async write(host: ScriptHost, name: string, parts: readonly ScriptPart[]): Promise<LongScript> {
    const script = new LongScript(host, name);
    try {
      for (const piece of scriptPieces(parts)) {
        if (script.#bytes > 0) await host.paces.scripts.next();
        script.#append(piece);
      }
      return script;
    } catch (error) {
      script.release();
      throw error;
    }
  }

  /** Removes the file. Idempotent, never throws. */
  release(): void {
    if (this.#released) return;
    this.#released = true;
    try {
      // A process of the sandbox may have the file open; truncation frees its space.
      truncateSync(this.#path);
    } catch {}
    try {
      rmSync(this.#path, { force: true });
    } catch {
      // It is removed with the agent directory.
    }
    this.#host.room.give(this.#host, this.#pages * PAGE);
  }

  /** No descriptor is kept between the pieces: the number of commands that wait is not limited. */
  #append(piece: Buffer): void {
    const pages = Math.ceil((this.#bytes + piece.length) / PAGE) - this.#pages;
    if (!this.#host.room.take(this.#host, pages * PAGE)) {
      throw new ServiceError('RESOURCE_EXHAUSTED', 'the sandbox’s commands and env in flight are too large together');
    }
    this.#pages += pages;
    writeFileSync(this.#path, piece, { mode: 0o644, flag: this.#bytes === 0 ? 'wx' : 'a' });
    this.#bytes += piece.length;
  }
}
