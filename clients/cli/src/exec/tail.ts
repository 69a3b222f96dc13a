import type { Api, Process } from 'paddock-sandbox';

const PIECE = 1024 * 1024;
const NEWLINE = 10;

/** Where the last lines of the output begin that is kept now. Both streams count as one. */
export async function offsetOfTail(
  api: Api,
  { sandboxId, id }: Process,
  lines: number,
  { signal }: { signal: AbortSignal },
): Promise<number> {
  const ids = { sandboxId, processId: id };
  const { outputFirst, outputNext } = await api.getProcess(ids, { signal });
  if (lines === 0) return outputNext;
  /** Where the newest lines begin; a line that ends with the output is complete. */
  const begins = [outputFirst];
  for (let at = outputFirst; at < outputNext; ) {
    const { output, next, gap } = await api.readProcessOutput({ ...ids, offset: at, maxBytes: PIECE }, { signal });
    if (gap > 0) begins.splice(0, begins.length, at + gap);
    for (const { data, offset } of output) {
      for (let found = data.indexOf(NEWLINE); found >= 0; found = data.indexOf(NEWLINE, found + 1)) {
        const begin = offset + found + 1;
        if (begin >= outputNext) break;
        begins.push(begin);
        if (begins.length > lines) begins.shift();
      }
    }
    if (next === at) break;
    at = next;
  }
  return begins[0]!;
}
