import { join } from 'node:path';
import { openPipeReader, type PipeReader } from './pipe-reader.ts';

/** Name of the FIFO in the agent directory. */
export const ANSWER = 'up';

/**
 * The first line of an agent, by which it says that it runs and that it has opened `ctl`: without it, that would be known by its first
 * runner only. No command has run before. Owns its descriptor until `close`; the FIFO exists already.
 */
export class AgentAnswer {
  /** Rejects after `close`, or if the agent ends without a word. */
  readonly given: Promise<void>;
  readonly #pipe: PipeReader;

  /** `scratch`: see `PipeReader`. */
  constructor(dir: string, scratch: Buffer) {
    const pipe = openPipeReader(join(dir, ANSWER), 'read', scratch);
    this.#pipe = pipe;
    this.given = new Promise((resolve, reject) => {
      pipe.sink = () => {
        resolve();
        return true;
      };
      void pipe.ended.then(() => reject(new Error('the agent ended before it answered')));
    });
    this.given.catch(() => {});
  }

  /** Idempotent. */
  close(): void {
    this.#pipe.close();
  }
}
