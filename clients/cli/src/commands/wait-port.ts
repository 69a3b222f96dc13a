import { CommandTimeoutError } from '../../../typescript/src/errors.ts';
import { waitPort } from '../../../typescript/src/ports.ts';
import { command } from '../command.ts';
import { CliError } from '../errors.ts';
import { durationOf } from '../exec/durations.ts';
import { portOf } from '../forward/ports.ts';
import { sandboxIdOf } from '../resolve.ts';

export default command({
  name: 'wait-port',
  summary: 'wait until a program of a sandbox listens on a port',
  usage: 'SANDBOX PORT',
  details: 'Prints the address. The exit code is 1 if nothing listens there in time.',
  options: { timeout: { type: 'string', value: 'TIME', help: 'how long to wait (default: 60s)' } },
  examples: ['paddock exec -d SANDBOX npm start && paddock wait-port SANDBOX 3000'],
  operands: [2, 2],
  async run(context, { values, operands }) {
    const port = portOf(operands[1]!);
    const timeout = durationOf('timeout', values.timeout ?? '60s');
    const paddock = await context.paddock();
    const sandboxId = await sandboxIdOf(paddock, operands[0]!, context);
    try {
      const found = await waitPort(paddock.api, sandboxId, port, { timeout, signal: context.signal });
      context.out.result(found, () => `${found.address}:${found.port}`);
      return 0;
    } catch (error) {
      if (error instanceof CommandTimeoutError) throw new CliError(error.message, { exitCode: 1, cause: error });
      throw error;
    }
  },
});
