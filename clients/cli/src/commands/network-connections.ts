import { command } from '../command.ts';
import { findSandbox } from '../find-sandbox.ts';
import { printableName } from '../printable.ts';
import { agoText } from '../process-text.ts';

export default command({
  name: 'network connections',
  summary: 'list the connections of a sandbox, and the refused ones, the newest first',
  usage: 'SANDBOX',
  options: {},
  examples: ['paddock network connections ID'],
  operands: [1, 1],
  async run(context, { operands: [id] }) {
    const { out, signal } = context;
    const found = await (await findSandbox(context, id!)).network.connections({ signal });
    if (out.json) out.value(found);
    else {
      const rows = found.map((each) => [
        printableName(`${each.host || each.address}:${each.port}`),
        each.protocol,
        each.allowed ? (each.closedAt ? 'closed' : 'open') : each.code,
        String(each.sentBytes),
        String(each.receivedBytes),
        agoText(each.openedAt),
      ]);
      out.table(['HOST', 'PROTOCOL', 'STATE', 'SENT', 'RECEIVED', 'STARTED'], rows);
    }
    return 0;
  },
});
