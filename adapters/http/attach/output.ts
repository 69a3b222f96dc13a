import { outputFrame, replayFrame } from './frames.ts';

/** A message of the output of an attach: one of the parts is present. */
export interface Output {
  data?: Uint8Array;
  stream?: string;
  /** Position after the message. */
  offset?: number;
  attached?: { process_id: string; terminal: boolean; writer: boolean; offset: number };
  gap?: object;
  end?: { exit_code: number; reason: string };
}

/**
 * Encodes output as the frames of OpenSandbox. Output of a terminal from before the client came is a replay; that of a
 * process without a terminal is sent as what it is, so that both streams stay apart.
 */
export class OutputFrames {
  /** Position up to which output is a replay. */
  #live = 0;

  /** undefined: the message has nothing for the client. */
  next({ data, stream = 'STDOUT', offset = 0, attached, gap, end }: Output): Buffer | string | undefined {
    if (attached) {
      const { process_id, terminal, writer, offset: live } = attached;
      this.#live = terminal ? live : 0;
      return JSON.stringify({ type: 'connected', process_id, mode: terminal ? 'pty' : 'pipe', offset: live, writer });
    }
    if (end) return JSON.stringify({ type: 'exit', exit_code: end.exit_code, end_reason: end.reason });
    if (gap) return JSON.stringify({ type: 'gap', ...gap });
    if (data === undefined || data.length === 0) return undefined;
    return offset <= this.#live ? replayFrame(data, offset) : outputFrame(data, stream);
  }
}
