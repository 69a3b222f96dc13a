import { Damage } from '../damage.ts';
import { NO_SLOT, type StoredFile } from './stored-file.ts';

/** Limit of reported damaged files. */
const MAX_REPORTED = 1000;

/** Reports each damaged file of a delta once. */
export class DamageReports {
  readonly #report: (inode: StoredFile, message: string) => void;
  /** Inodes that were reported. */
  readonly #reported = new Set<number>();

  /** `report` is called once for each file. */
  constructor(report: (inode: StoredFile, message: string) => void) {
    this.#report = report;
  }

  /** Returns the error for a file whose data file is missing or has a wrong size. */
  lost(inode: StoredFile): Damage {
    return this.of(inode, 'its data file is missing or has a wrong size');
  }

  /** Returns the error for a file; `what` is wrong with it. */
  of(inode: StoredFile, what: string): Damage {
    const { layer, slot, id } = inode.requireData();
    const place = slot === NO_SLOT ? `data file ${id}` : `slot ${slot}`;
    const message = `${what} (layer ${layer}, ${place})`;
    if (!this.#reported.has(inode.id) && this.#reported.size < MAX_REPORTED) {
      this.#reported.add(inode.id);
      this.#report(inode, message);
    }
    return new Damage(`a file is damaged: ${message}`);
  }
}
