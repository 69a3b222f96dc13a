/**
 * Lines of a runner's status pipe: `<nonce> <kind> <number>` and a newline. Kinds:
 *
 * - h PID: the runner is ready; its pid inside
 * - s 0: the command is about to start, stdin is open
 * - w 0: the workdir could not be entered
 * - e 0: the sandbox has no such shell
 * - m 0: the sandbox has no program that makes a terminal
 * - p 0: no terminal could be opened; nothing of the command has run
 * - x CODE: the command ended
 * - f 0: the runner exits; with its name in place of the nonce: it could not be started
 *
 * Processes of the command can write to the pipe (same uid), so everything is validated and bounded.
 */
type StatusKind = 'h' | 's' | 'w' | 'e' | 'm' | 'p' | 'x' | 'f';
export interface StatusLine {
  nonce: string;
  kind: StatusKind;
  value: number;
}

const LINE = /^([0-9a-f]{16}) ([hswempxf]) (\d{1,10})$/;
const MAX_LINE = 64;

/**
 * Splits the bytes of a status pipe into lines. `undefined` in the result marks malformed data; nothing after it can be
 * trusted.
 */
export class StatusParser {
  #pending = '';

  /**
   * Parses the lines that are complete with this data; undefined in place of one that is not a status or is too long.
   */
  push(data: Uint8Array): (StatusLine | undefined)[] {
    if (data.length + this.#pending.length > 8 * MAX_LINE) return [undefined];
    const lines = (this.#pending + Buffer.from(data).toString('latin1')).split('\n');
    this.#pending = lines.pop() ?? '';
    const parsed = lines.map(parseStatus);
    if (this.#pending.length > MAX_LINE) parsed.push(undefined);
    return parsed;
  }
}

function parseStatus(line: string): StatusLine | undefined {
  const match = LINE.exec(line);
  return match ? { nonce: match[1]!, kind: match[2] as StatusKind, value: Number(match[3]) } : undefined;
}
