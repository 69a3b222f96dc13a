import { command } from '../command.ts';
import { CliError } from '../errors.ts';
import { findSandbox } from '../find-sandbox.ts';
import { destroyOwned } from '../upload.ts';

export default command({
  name: 'rm',
  summary: 'destroy sandboxes, with their changes',
  usage: 'SANDBOX...',
  details: `
The codebase that "create --from" or "run" made goes with its last sandbox, unless something was committed to it.
Others stay.`,
  options: {},
  examples: ['paddock rm ID'],
  operands: [1, Number.POSITIVE_INFINITY],
  async run(context, { operands }) {
    const failures: unknown[] = [];
    for (const id of operands) {
      context.signal.throwIfAborted();
      try {
        const sandbox = await findSandbox(context, id);
        await destroyOwned(sandbox, { signal: context.signal });
        if (!context.out.json) context.out.line(sandbox.id);
      } catch (error) {
        if (operands.length === 1) throw error;
        context.out.error(error);
        failures.push(error);
      }
    }
    if (failures.length > 0) throw new CliError(`${failures.length} of ${operands.length} were not removed`);
    return 0;
  },
});
