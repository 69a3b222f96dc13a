import { command } from '../command.ts';
import { forwardOpened } from '../forward/opened.ts';
import { portsOf } from '../forward/ports.ts';
import { sandboxIdOf } from '../resolve.ts';

export default command({
  name: 'forward',
  summary: 'reach a port of a sandbox at a port of this machine',
  usage: 'SANDBOX PORT[:LOCAL-PORT]',
  details: `Listens on 127.0.0.1 until ^C, and carries each connection, whatever its protocol, to the program that listens in the
sandbox, on its loopback too. The port is opened for that, for callers with a key, unless it is open.`,
  options: {},
  examples: ['paddock forward SANDBOX 3000', 'paddock forward SANDBOX 5432:15432'],
  operands: [2, 2],
  async run(context, { operands }) {
    const ports = portsOf(operands[1]!);
    const paddock = await context.paddock();
    const sandboxId = await sandboxIdOf(paddock, operands[0]!, context);
    await forwardOpened(paddock, { sandboxId, ...ports }, context);
    return 0;
  },
});
