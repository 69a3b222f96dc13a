import { constants } from 'node:os';
import type { Paddock, ProcessInfo } from 'paddock-sandbox';
import { command, one, optional, some } from '../command-line/command.ts';
import { UsageError } from '../command-line/errors.ts';
import { follow } from '../exec/follow.ts';
import { attachableOf, gone, processesOf, processOf, refOf } from '../names/processes.ts';
import { listed, sandboxIdOf } from '../names/sandboxes.ts';
import { labelsOf } from '../options/labels.ts';
import { agoText, commandText, cut, stateText } from '../output/process-text.ts';
import { DEFAULT_KEYS, DETACH_KEYS, DETACH_OPTION } from '../terminal/detach-keys.ts';
import { each } from './each.ts';

const SHOWN = 60;

export const ps = command({
  summary: 'list processes of a sandbox, or of all sandboxes',
  operands: { sandbox: optional('SANDBOX') },
  options: {
    all: { short: 'a', help: 'also those that have ended' },
    label: { short: 'l', multiple: true, value: 'KEY=VALUE', help: 'only those with this label' },
    quiet: { short: 'q', help: 'only their names' },
    'no-trunc': { help: 'whole commands' },
  },
  examples: ['paddock ps', 'paddock ps -a SANDBOX'],
  async run({ out, signal, ...context }, { values, operands: { sandbox } }) {
    const paddock = await context.paddock();
    const labels = labelsOf(values.label);
    const options = { signal, ...(labels && { labels }), ...(!values.all && { running: true }) };
    const found: ProcessInfo[] = [];
    for await (const id of sandboxIds(paddock, sandbox, { signal })) {
      const several = processesOf(paddock, id, options);
      found.push(...(await (sandbox === undefined ? several.catch(gone) : several)));
    }
    const most = values['no-trunc'] ? Number.POSITIVE_INFINITY : SHOWN;
    await out.list(found, {
      heading: ['PROCESS', 'SANDBOX', 'STATUS', 'STARTED', 'COMMAND'],
      row: (it) => [it.processId, it.sandboxId, stateText(it), agoText(it.startedAt), cut(commandText(it), most)],
      quiet: values.quiet && (({ sandboxId, processId }) => `${sandboxId}/${processId}`),
    });
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

export const attach = command({
  summary: 'connect to a running process: its output, and its input',
  details: `A sandbox stands for the one process that runs in it. Of a terminal, all output that is kept is shown first.
Attaching takes over the keyboard. ${DEFAULT_KEYS} leaves a terminal.`,
  operands: { process: one('PROCESS|SANDBOX') },
  options: {
    'no-stdin': { help: 'only watch' },
    'detach-keys': DETACH_OPTION,
  },
  examples: ['paddock attach SANDBOX', 'paddock attach SANDBOX/web', 'paddock attach --no-stdin p-3f'],
  async run(context, { values, operands }) {
    const { 'detach-keys': detachKeys = DETACH_KEYS } = values;
    const paddock = await context.paddock();
    const target = await attachableOf(paddock, operands.process, context);
    const { terminal, stdinOpen, outputFirst, outputNext, inputNext, end } = await target.refresh(context.call);
    const input = !values['no-stdin'] && stdinOpen && end === undefined;
    if (terminal) {
      const { interact, requireTerminal } = await import('../terminal/interact.ts');
      if (input) requireTerminal();
      return interact(context, target, { offset: outputFirst, input, detachKeys });
    }
    const inputOffset = input ? inputNext : undefined;
    return follow(context, paddock, target, { offset: outputNext, inputOffset, forward: true });
  },
});

export const kill = command({
  summary: 'send a signal to processes',
  details: 'The signal goes to the process and to everything that it started.',
  operands: { processes: some('PROCESS') },
  options: {
    signal: { short: 's', value: 'SIGNAL', read: signalOf, help: 'INT, SIGINT or 2 (default: KILL)' },
  },
  examples: ['paddock kill web', 'paddock kill -s INT SANDBOX/web'],
  async run(context, { values: { signal = 'SIGKILL' }, operands: { processes } }) {
    const paddock = await context.paddock();
    await each(context, processes, async (given) => {
      const target = await processOf(paddock, given, context);
      await target.signal(signal, context.call);
      return refOf(target);
    });
  },
});

/** "int", "SIGINT" and "2" are SIGINT. */
export function signalOf(_option: string, given: string): string {
  const numbers = Object.entries(constants.signals) as [string, number][];
  if (/^\d+$/.test(given)) {
    const name = numbers.find(([, number]) => number === Number(given))?.[0];
    if (name === undefined) throw new UsageError(`there is no signal ${given}`);
    return name;
  }
  const name = given.toUpperCase();
  if (!/^[A-Z][A-Z0-9+-]*$/.test(name)) throw new UsageError(`there is no signal ${JSON.stringify(given)}`);
  return name.startsWith('SIG') ? name : `SIG${name}`;
}
