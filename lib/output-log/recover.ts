import { errorCode } from '../linux/errno.ts';
import { endOfBlock } from './collector.ts';
import { BLOCK } from './format.ts';
import { findPosition, readAll } from './read-segment.ts';
import { type LogFileSystem, type Segment, segmentAt, startInName } from './segment.ts';

/** A log has fewer files than this; more are not its own. */
const MAX_FILES = 1024;

/**
 * The segments that an earlier server left, in order; undefined if there is no such directory. What that server wrote
 * last may be torn: the last segment ends with its last whole record.
 */
export async function recoverSegments(fileSystem: LogFileSystem, directory: string): Promise<Segment[] | undefined> {
  const names = await fileSystem.readdir(directory).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  });
  if (names === undefined) return undefined;
  const starts = names.flatMap((name) => startInName(name) ?? []).sort((one, other) => one - other);
  const segments = starts.slice(-MAX_FILES).map((start) => segmentAt(directory, start));
  for (const [index, segment] of segments.entries()) {
    segment.size = (await fileSystem.stat(segment.path)).size;
    segment.end = segments[index + 1]?.start ?? segment.start;
  }
  const last = segments.at(-1);
  if (last !== undefined) last.end = Math.max(last.start, (await endOf(fileSystem, last)) ?? last.start);
  return segments;
}

/** The offset after the last whole record of a segment. What follows may be torn, or older than the segment. */
async function endOf(fileSystem: LogFileSystem, segment: Segment): Promise<number | undefined> {
  const handle = await fileSystem.open(segment.path, 'r');
  try {
    const position = await findPosition(handle, segment, Number.MAX_SAFE_INTEGER, 0);
    return endOfBlock(await readAll(handle, Buffer.alloc(BLOCK), position));
  } finally {
    await handle.close();
  }
}
