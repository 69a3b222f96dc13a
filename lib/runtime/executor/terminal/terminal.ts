import type { Descriptors } from '../../../descriptors.ts';
import { ServiceError } from '../../../errors.ts';
import type { TerminalSize } from '../../runtime.ts';
import { Stdin } from '../stdin.ts';
import { TerminalSizes } from './sizes.ts';

export const noTerminalProgram = () =>
  new ServiceError(
    'FAILED_PRECONDITION',
    'the sandbox cannot make a terminal: its image has no perl, no python3, and no script (util-linux) with stty',
  );

export const cannotOpenTerminal = () =>
  new ServiceError(
    'RESOURCE_EXHAUSTED',
    'no terminal could be opened in the sandbox: it has as many terminals or processes as it may have',
  );

/** The server's side of a command's terminal: its input and its sizes. */
export class Terminal extends Stdin {
  readonly #sizes: TerminalSizes;

  private constructor(path: string, sizes: TerminalSizes) {
    super(path);
    this.#sizes = sizes;
  }

  /** Throws RESOURCE_EXHAUSTED if the sandbox has no descriptor left for the sizes. The FIFOs exist. */
  static open(stdin: string, sizes: string, host: { descriptors: Descriptors }): Terminal {
    const opened = new TerminalSizes(sizes, host.descriptors.commands, host);
    try {
      return new Terminal(stdin, opened);
    } catch (error) {
      opened.close();
      throw error;
    }
  }

  override start(): void {
    this.#sizes.opened();
    super.start();
  }

  /** See `RunningCommand`. */
  resize(size: TerminalSize): void {
    this.#sizes.set(size);
  }

  override close(): void {
    this.#sizes.close();
    super.close();
  }
}
