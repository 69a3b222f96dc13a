import { join } from 'node:path';
import { mountAgentFiles, RUNTIME_DIRECTORY, unmountAgentFiles } from '../agent-mount.ts';
import { FifoPool } from '../executor/fifo-pool.ts';

/**
 * The agent directories of one instance, in a file system that is mounted at first use. Its path is the same after a
 * restart.
 */
export class AgentDirs {
  readonly path: string;
  #fifos: Promise<FifoPool> | undefined;

  constructor(instance: string) {
    this.path = join(RUNTIME_DIRECTORY, `docker-${instance}`);
  }

  /** Mounts the agent files at the first call, and again after a failure; `clear` removes them. */
  open(): Promise<FifoPool> {
    this.#fifos ??= this.#mount();
    this.#fifos.catch(() => {
      this.#fifos = undefined;
    });
    return this.#fifos;
  }

  /** Removes everything, including the remains of a dead server. No sandbox may be running. */
  async clear(): Promise<void> {
    this.#fifos = undefined;
    await unmountAgentFiles(this.path);
  }

  async #mount(): Promise<FifoPool> {
    await mountAgentFiles(this.path);
    return new FifoPool(join(this.path, 'fifos'));
  }
}
