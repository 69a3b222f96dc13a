import { command } from '../command.ts';
import { findSandbox } from '../find-sandbox.ts';
import { portOf } from '../forward/ports.ts';

export default command({
  name: 'port close',
  summary: 'close a port of a sandbox: its URL and its connections end',
  usage: 'SANDBOX PORT',
  options: {},
  examples: ['paddock port close SANDBOX 3000'],
  operands: [2, 2],
  async run(context, { operands: [id, given] }) {
    const port = portOf(given!);
    await (await findSandbox(context, id!)).ports.close(port, { signal: context.signal });
    context.out.result({ port }, () => `port ${port} is closed`);
    return 0;
  },
});
