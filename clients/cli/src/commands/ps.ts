import type { Process as ProcessInfo } from '../../../typescript/src/contract/messages.ts';
import type { Paddock } from '../../../typescript/src/paddock.ts';
import { command } from '../command.ts';
import { labelsOf } from '../exec/pairs.ts';
import { gone, processesOf } from '../process-ref.ts';
import { agoText, commandText, cut, stateText } from '../process-text.ts';
import { listed, sandboxIdOf } from '../resolve.ts';

const SHOWN = 60;

export default command({
  name: 'ps',
  summary: 'list processes of a sandbox, or of all',
  usage: '[SANDBOX]',
  options: {
    all: { type: 'boolean', short: 'a', help: 'those that have ended, too' },
    label: { type: 'string', short: 'l', multiple: true, value: 'KEY=VALUE', help: 'only those with the label' },
    quiet: { type: 'boolean', short: 'q', help: 'only their names' },
    'no-trunc': { type: 'boolean', help: 'whole commands' },
  },
  examples: ['paddock ps', 'paddock ps -a SANDBOX'],
  operands: [0, 1],
  async run(context, { values, operands }) {
    const { out, signal } = context;
    const paddock = await context.paddock();
    const labels = labelsOf(values.label);
    const options = { signal, ...(labels && { labels }), ...(!values.all && { running: true }) };
    const found: ProcessInfo[] = [];
    for await (const id of sandboxIds(paddock, operands[0], { signal })) {
      const some = processesOf(paddock, id, options);
      found.push(...(await (operands[0] === undefined ? some.catch(gone) : some)));
    }
    if (out.json) out.value(found);
    else if (values.quiet) for (const each of found) out.line(`${each.sandboxId}/${each.processId}`);
    else {
      const most = values['no-trunc'] ? Number.POSITIVE_INFINITY : SHOWN;
      const rows = found.map((each) => [
        each.processId,
        each.sandboxId,
        stateText(each),
        agoText(each.startedAt),
        cut(commandText(each), most),
      ]);
      out.table(['PROCESS', 'SANDBOX', 'STATUS', 'STARTED', 'COMMAND'], rows);
    }
    return 0;
  },
});

async function* sandboxIds(
  paddock: Paddock,
  given: string | undefined,
  signal: { signal: AbortSignal },
): AsyncGenerator<string, void, void> {
  if (given !== undefined) yield await sandboxIdOf(paddock, given, signal);
  else for await (const { id } of listed(paddock, signal)) yield id;
}
