import { command } from '../command.ts';
import { findSandbox } from '../find-sandbox.ts';
import { timeText } from '../status.ts';

export default command({
  name: 'port ls',
  summary: 'list the opened ports of a sandbox, with their URLs',
  usage: 'SANDBOX',
  options: {},
  examples: ['paddock port ls SANDBOX'],
  operands: [1, 1],
  async run(context, { operands: [id] }) {
    const { out, signal } = context;
    const found = await (await findSandbox(context, id!)).ports.opened({ signal });
    const rows = found.map(({ port, access, expiresAt, url }) => [String(port), access, timeText(expiresAt), url]);
    if (out.json) out.value(found);
    else out.table(['PORT', 'ACCESS', 'UNTIL', 'URL'], rows);
    return 0;
  },
});
