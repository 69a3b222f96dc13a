import type { Paddock, Process } from 'paddock-sandbox';
import { type Context, command, one } from '../command-line/command.ts';
import { UsageError } from '../command-line/errors.ts';
import { BufferedWriter } from '../exec/buffered-writer.ts';
import { follow } from '../exec/follow.ts';
import { offsetOfTail } from '../exec/tail.ts';
import { processOf } from '../names/processes.ts';
import { countOf } from '../options/durations.ts';

const PIECE = 1024 * 1024;

export const logs = command({
  summary: 'show the output of a process',
  details: `The process is SANDBOX/PROCESS, or its id alone. Its output is kept also after its end, the newest of it.
Output is shown as it is: escape sequences of the program reach the terminal.`,
  operands: { process: one('PROCESS') },
  options: {
    follow: { short: 'f', help: 'go on until it ends, also after a lost connection' },
    tail: { short: 'n', value: 'LINES', read: countOf, help: 'only the last lines' },
    'since-offset': { value: 'BYTES', read: countOf, help: 'from this byte of the whole output on' },
    'show-offset': { help: 'on stderr, the offset at which to go on' },
  },
  examples: ['paddock logs -f web', 'paddock logs --tail 20 SANDBOX/web'],
  async run(context, { values, operands }) {
    const { tail, 'since-offset': since } = values;
    if (tail !== undefined && since !== undefined) throw new UsageError('either --tail or --since-offset');
    const paddock = await context.paddock();
    const target = await processOf(paddock, operands.process, context);
    const { outputFirst } = await target.refresh(context.call);
    const offset = tail === undefined ? (since ?? outputFirst) : await offsetOfTail(paddock.api, target, tail, context);
    if (!values.follow) {
      const next = await show(paddock, target, offset, context);
      if (values['show-offset']) context.out.note(`${next}`);
    } else await follow(context, paddock, target, { offset, forward: false });
  },
});

/** What there is now. Returns the offset at which to go on. */
async function show(
  { api }: Paddock,
  { sandboxId, id }: Process,
  offset: number,
  { signal, out }: Context,
): Promise<number> {
  const sinks = { stdout: new BufferedWriter(process.stdout), stderr: new BufferedWriter(process.stderr) };
  const { outputNext } = await api.getProcess({ sandboxId, processId: id }, { signal });
  let at = offset;
  while (at < outputNext) {
    const request = { sandboxId, processId: id, offset: at, maxBytes: PIECE };
    const { output, next, gap } = await api.readProcessOutput(request, { signal });
    if (gap > 0) out.note(`paddock: ${gap} bytes of the output are no longer kept`);
    for (const { data, stream } of output) await sinks[stream === 'stderr' ? 'stderr' : 'stdout'].write(data);
    if (next === at) break;
    at = next;
  }
  await Promise.all([sinks.stdout.end(), sinks.stderr.end()]);
  return at;
}
