import type { ProcessEvent } from '../../../lib/contract/messages.ts';
import { giveBack } from '../../../lib/recycled-buffers.ts';
import { outputFrame, replayFrame } from './frames.ts';

/**
 * Encodes output as the frames of OpenSandbox. Output of a terminal from before the client came is a replay; that of a
 * process without a terminal is sent as what it is, so that both streams stay apart.
 */
export class OutputFrames {
  /** Position up to which output is a replay. */
  #live = 0;

  /** undefined: the message has nothing for the client. */
  next({ data, stream, next, attached, gap, end }: ProcessEvent): Buffer | string | undefined {
    if (attached) {
      const { terminal, writer, offset } = attached;
      this.#live = terminal ? offset : 0;
      return JSON.stringify({ type: 'connected', mode: terminal ? 'pty' : 'pipe', writer, offset });
    }
    if (end) return JSON.stringify({ type: 'exit', exit_code: end.exit_code, end_reason: end.reason });
    if (gap > 0) return JSON.stringify({ type: 'gap', bytes: gap, next });
    if (data.length === 0) return undefined;
    const frame = next <= this.#live ? replayFrame(data, next) : outputFrame(data, stream);
    giveBack(data);
    return frame;
  }
}
