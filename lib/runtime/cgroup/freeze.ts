import { existsSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { isOutOfDescriptors } from '../../descriptors.ts';
import { closeQuietly } from '../../linux/close.ts';

/**
 * Stops all processes in a cgroup, whatever they do: a frozen process cannot fork, and a signal is delivered when it is
 * thawed. `thaw` works when no descriptor is free. The caller must call it, also after an error.
 */
export class Freeze {
  readonly #fd: number | undefined;
  readonly #v2: boolean;

  /** Does nothing in a hierarchy that cannot freeze. Throws only if no descriptor is free. */
  constructor(dir: string) {
    this.#v2 = existsSync(join(dir, 'cgroup.freeze'));
    try {
      this.#fd = openSync(join(dir, this.#v2 ? 'cgroup.freeze' : 'freezer.state'), 'r+');
    } catch (error) {
      if (isOutOfDescriptors(error)) throw error;
    }
    this.#put(this.#v2 ? '1' : 'FROZEN');
  }

  thaw(): void {
    this.#put(this.#v2 ? '0' : 'THAWED');
    if (this.#fd !== undefined) closeQuietly(this.#fd);
  }

  #put(value: string): void {
    try {
      if (this.#fd !== undefined) writeSync(this.#fd, value);
    } catch {
      // The cgroup is gone.
    }
  }
}
