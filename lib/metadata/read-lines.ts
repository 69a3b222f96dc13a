import type { FileSystem } from './durable-file.ts';

const CHUNK = 1 << 20;
const NEWLINE = 0x0a;

export interface Line {
  /** Without the newline. */
  readonly bytes: Buffer;
  /** Position in the file. */
  readonly offset: number;
  /** It ends with a newline. */
  readonly isWhole: boolean;
}

/**
 * Calls `each` with every line of the file, until it returns false; what follows the last newline is a line, too, unless
 * it is empty. Holds one line and one chunk of the file. Returns the size of what was read.
 */
export async function readLines(
  path: string,
  fileSystem: Pick<FileSystem, 'open'>,
  each: (line: Line) => boolean | undefined,
): Promise<number> {
  const file = await fileSystem.open(path, 'r');
  try {
    let offset = 0;
    let rest: Buffer[] = [];
    const line = (end: Buffer, isWhole: boolean) => {
      const bytes = rest.length === 0 ? end : Buffer.concat([...rest, end]);
      rest = [];
      const goesOn = each({ bytes, offset, isWhole }) !== false;
      offset += bytes.length + (isWhole ? 1 : 0);
      return goesOn;
    };
    for (;;) {
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(CHUNK), 0, CHUNK);
      if (bytesRead === 0) break;
      let from = 0;
      for (let to = buffer.indexOf(NEWLINE); to !== -1 && to < bytesRead; to = buffer.indexOf(NEWLINE, from)) {
        if (!line(buffer.subarray(from, to), true)) return offset;
        from = to + 1;
      }
      if (from < bytesRead) rest.push(buffer.subarray(from, bytesRead));
    }
    if (rest.length > 0) line(Buffer.alloc(0), false);
    return offset;
  } finally {
    await file.close();
  }
}
