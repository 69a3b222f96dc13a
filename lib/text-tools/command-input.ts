import { invalidArgument } from '../errors.ts';

/** Characters of input that are as short to copy as to decode. */
const SHORT = 65_536;
const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

/** A lone surrogate has no UTF-8 form: the name on disk would differ from the checked one. */
export function checkUnicode(text: string, at: string): void {
  if (!(text as string & { isWellFormed(): boolean }).isWellFormed())
    throw invalidArgument(at, 'must be valid Unicode');
}

/** JSON has bytes as base64, with or without padding, in both alphabets. Throws INVALID_ARGUMENT. */
export function base64Bytes(text: unknown, at: string): Buffer {
  if (typeof text !== 'string' || !BASE64.test(text)) throw invalidArgument(at, 'must be bytes in base64');
  return Buffer.from(text, 'base64');
}

/**
 * A request whose long input for a command, of either field, is in memory that all threads share. The reason: in the main
 * thread a text of 60 MB takes 50 ms to be received as a string, and as long to be decoded as base64. Throws INVALID_ARGUMENT.
 */
export function withSharedInput(request: unknown): unknown {
  const { stdin, stdin_bytes } = (request ?? {}) as Record<string, unknown>;
  if (!isLong(stdin) && !isLong(stdin_bytes)) return request;
  if (stdin && stdin_bytes) throw invalidArgument('stdin_bytes', 'must be empty with stdin');
  if (!isLong(stdin)) return { ...(request as object), stdin_bytes: shared(base64Bytes(stdin_bytes, 'stdin_bytes')) };
  checkUnicode(stdin, 'stdin');
  return { ...(request as object), stdin: '', stdin_bytes: shared(Buffer.from(stdin)) };
}

const isLong = (value: unknown): value is string => typeof value === 'string' && value.length > SHORT;

function shared(bytes: Buffer): Uint8Array {
  const memory = new Uint8Array(new SharedArrayBuffer(bytes.length));
  memory.set(bytes);
  return memory;
}
