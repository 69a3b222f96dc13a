import type { TurnTime } from '../../turn-time.ts';
import { type DrainQuota, newQuota } from './pipe-reader.ts';
import type { Runner } from './runner.ts';

const DRAIN_ROUNDS = 64;

type Quotas = readonly [out: DrainQuota, err: DrainQuota];
const newQuotas = (): Quotas => [newQuota(), newQuota()];

type Pipes = Pick<Runner, 'out' | 'err'>;

/** Reads what is in the pipes of a command that has ended, whether or not its consumer keeps up. */
export class LastOutput {
  readonly #pipes: Pipes;
  readonly #endings: TurnTime;

  /** `endings`: see RunContext. */
  constructor(pipes: Pipes, endings: TurnTime) {
    this.#pipes = pipes;
    this.#endings = endings;
  }

  /**
   * Returns whether the pipes were found empty. `alone`: no process of the command can write any more, so that this is
   * certain; others of the sandbox can, so nothing more is read once it is `full`.
   */
  async read(alone: boolean, full: () => boolean): Promise<boolean> {
    let emptied = false;
    // More than once: the host may allow a pipe larger than usual.
    for (let rounds = 0; rounds === 0 || (alone && !emptied && !full() && rounds < DRAIN_ROUNDS); rounds++) {
      const quotas = newQuotas();
      const reading = this.readAll(quotas);
      if (reading) await reading;
      emptied = quotas.every((quota) => quota.emptied);
    }
    return emptied;
  }

  /** Returns nothing if all was read at once, so that a usual command ends in the same turn as its last line arrives. */
  readAll(quotas = newQuotas()): void | Promise<void> {
    const done = this.#endings.run(() => this.readSome(quotas));
    if (done !== true) return this.#readRest(quotas, done);
  }

  /** Returns false if another call is needed in a later turn of the event loop. */
  readSome([ofOut, ofErr]: Quotas = newQuotas()): boolean {
    const { out, err } = this.#pipes;
    return out.drain(ofOut) && err.drain(ofErr);
  }

  async #readRest(quotas: Quotas, first: boolean | Promise<boolean>): Promise<void> {
    let done = await first;
    while (!done) done = await this.#endings.run(() => this.readSome(quotas));
  }
}
