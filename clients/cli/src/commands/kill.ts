import { constants } from 'node:os';
import { command } from '../command.ts';
import { UsageError } from '../errors.ts';
import { processOf, refOf } from '../process-ref.ts';

export default command({
  name: 'kill',
  summary: 'send a signal to processes',
  usage: 'PROCESS...',
  details: 'The signal goes to the process and to everything that it started.',
  options: {
    signal: { type: 'string', short: 's', value: 'SIGNAL', help: 'INT, SIGINT or 2; default: KILL' },
  },
  examples: ['paddock kill web', 'paddock kill -s INT SANDBOX/web'],
  operands: [1, 1000],
  async run(context, { values, operands }) {
    const name = signalOf(values.signal ?? 'KILL');
    const paddock = await context.paddock();
    for (const given of operands) {
      const target = await processOf(paddock, given, context);
      await target.signal(name, context);
      if (!context.out.json) context.out.line(refOf(target));
    }
    if (context.out.json) context.out.value({ signal: name, processes: operands.length });
    return 0;
  },
});

/** "int", "SIGINT" and "2" are SIGINT. */
export function signalOf(given: string): string {
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
