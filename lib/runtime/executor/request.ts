import { LongScript, type ScriptHost } from './long-script.ts';
import { leastBytes, type ScriptPart, scriptText } from './script-part.ts';

/**
 * Always fits into an empty FIFO with one write (PIPE_BUF), even if the kernel has reduced the user's pipes to one
 * page.
 */
const MAX_INLINE = 4096;

/** One command for a runner. The owner must call `release` when the runner has reported its end, or never got it. */
export interface Request {
  /** At most MAX_INLINE bytes. */
  line: string;
  release: () => void;
}

const nothing = () => {};

/** Returns the script itself if it is short, otherwise a line that reads it from a file. Throws like LongScript. */
export async function requestFor(host: ScriptHost, nonce: string, parts: readonly ScriptPart[]): Promise<Request> {
  if (leastBytes(parts) <= MAX_INLINE) {
    const line = scriptText(parts);
    if (Buffer.byteLength(line) <= MAX_INLINE) return { line, release: nothing };
  }
  const script = await LongScript.write(host, `${nonce}.cmd`, parts);
  return { line: script.line, release: () => script.release() };
}
