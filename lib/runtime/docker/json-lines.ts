import { StringDecoder } from 'node:string_decoder';

/** Longest line; the daemon's own are below a few kilobytes. */
const MAX_LINE = 1024 * 1024;

/**
 * Parses a stream of the daemon with one JSON value on each line. Throws if a line is not JSON or too long, or if the
 * stream was cut.
 */
export async function* jsonLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<unknown, void, void> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  for await (const chunk of chunks) {
    const parts = (rest + decoder.write(chunk)).split('\n');
    rest = parts.pop() ?? '';
    if (rest.length > MAX_LINE) throw new Error(`a line of its answer has more than ${MAX_LINE} characters`);
    for (const part of parts) if (part.trim() !== '') yield JSON.parse(part);
  }
  if (rest.trim() !== '') yield JSON.parse(rest);
}
