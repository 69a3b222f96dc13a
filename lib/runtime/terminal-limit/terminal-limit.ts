import { ServiceError } from '../../errors.ts';
import { errorCode } from '../../linux/errno.ts';
import type { Log } from '../../log.ts';
import { devptsProgram } from './devpts-program.ts';
import { LineHelper } from './line-helper.ts';

/** Terminals that the processes of one sandbox may have open at once; the kernel has 4,096 for all (kernel.pty.max). */
const MAX_TERMINALS = 64;
/** Attempts for one sandbox: the helper process may have been killed meanwhile. */
const ATTEMPTS = 3;
/** Asked of the helper process: whether it can set limits at all. */
const NO_SANDBOX = 0;

/** The host cannot limit terminals, now or later. */
class NotPossible extends Error {}

/**
 * Limits the terminals of sandboxes: the devpts of each is its own, but without a limit it could take all terminals of the
 * kernel. One helper process serves all sandboxes of a runtime; it is started at the first use and again when it has ended.
 *
 * The first use decides whether the limit is possible here, which needs root, perl and Linux 5.2. If not, that is logged, and
 * sandboxes have no limit; otherwise a failure is an error from then on. A runtime's probe makes the first use.
 */
export class TerminalLimit {
  readonly #log: Log;
  readonly #program: string;
  #helper: LineHelper | undefined;
  #possible: boolean | undefined;
  #closed = false;

  /** `program`: that of the helper, which understands the arguments of perl. */
  constructor(log: Log, program = 'perl') {
    this.#log = log;
    this.#program = program;
  }

  /** A first use without a sandbox. Rejects with UNAVAILABLE. */
  probe(): Promise<void> {
    return this.apply(NO_SANDBOX);
  }

  /**
   * Limits the terminals of the sandbox whose first process has the host pid `init`. Must precede its first command. Resolves
   * if the sandbox has ended. Rejects with UNAVAILABLE.
   */
  async apply(init: number): Promise<void> {
    for (let attempt = 1; this.#possible !== false; attempt++) {
      try {
        await this.#ask(init);
        return;
      } catch (cause) {
        if (cause instanceof NotPossible && this.#possible === undefined) this.#giveUp(cause);
        else if (attempt === ATTEMPTS || this.#closed) {
          throw new ServiceError('UNAVAILABLE', 'the terminals of the sandbox could not be limited', [], { cause });
        }
      }
    }
  }

  /** Ends the helper process; what is limited later is refused with UNAVAILABLE. */
  close(): void {
    this.#closed = true;
    this.#end();
  }

  #end(): void {
    this.#helper?.close();
    this.#helper = undefined;
  }

  async #ask(init: number): Promise<void> {
    if (this.#closed) throw new Error('the runtime is closed');
    if (this.#helper === undefined || this.#helper.failure) {
      this.#helper = new LineHelper(this.#program, ['-e', devptsProgram(MAX_TERMINALS)]);
    }
    const answer = await this.#helper.ask(`${init}`).catch((error: unknown) => {
      throw errorCode(error) === 'ENOENT' ? new NotPossible(`${this.#program} is not installed`) : error;
    });
    if (answer === 'ok') this.#possible = true;
    else if (answer !== 'gone') throw new NotPossible(answer);
  }

  #giveUp({ message }: Error): void {
    this.#possible = false;
    this.#end();
    this.#log.warn('the number of terminals of a sandbox is not limited: that needs root, perl and Linux 5.2', {
      reason: message,
    });
  }
}
