import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { clearInstance, TMPFS_OPTIONS } from '../bwrap/instance.ts';
import { FifoPool } from '../executor/fifo-pool.ts';

const RUNTIME_DIRECTORY = '/run/paddock';

/**
 * Where the agents of one instance live: mounted at first use, the same place after a restart. A file system of its own,
 * so that what a container reads of its mounts names no host path.
 */
export class AgentDirs {
  readonly path: string;
  #fifos: Promise<FifoPool> | undefined;

  constructor(instance: string) {
    this.path = join(RUNTIME_DIRECTORY, `docker-${instance}`);
  }

  open(): Promise<FifoPool> {
    this.#fifos ??= this.#mount();
    this.#fifos.catch(() => {
      this.#fifos = undefined;
    });
    return this.#fifos;
  }

  /** With no sandbox up: takes everything away, also what a dead server left. */
  async clear(): Promise<void> {
    this.#fifos = undefined;
    await clearInstance(this.path);
  }

  async #mount(): Promise<FifoPool> {
    mkdirSync(this.path, { recursive: true, mode: 0o711 });
    await promisify(execFile)('mount', ['-t', 'tmpfs', '-o', TMPFS_OPTIONS, 'agent', this.path], { cwd: '/' });
    return new FifoPool(join(this.path, 'fifos'));
  }
}
