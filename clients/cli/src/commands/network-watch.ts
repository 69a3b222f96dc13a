import type { NetworkEvent } from '../../../typescript/src/contract/messages.ts';
import { command } from '../command.ts';
import { findSandbox } from '../find-sandbox.ts';
import { printableName } from '../printable.ts';
import { sizeText } from '../progress.ts';

export default command({
  name: 'network watch',
  summary: 'show connections of a sandbox, and what is refused, as it happens',
  usage: 'SANDBOX',
  details: 'It begins with what the server has kept, and ends when the sandbox is stopped or has no network any more.',
  options: { denied: { type: 'boolean', help: 'only what is refused' } },
  examples: ['paddock network watch ID', 'paddock network watch --denied --json ID'],
  operands: [1, 1],
  async run(context, { operands: [id], values }) {
    const { out, signal } = context;
    const { network } = await findSandbox(context, id!);
    for await (const event of network.watch({ deniedOnly: values.denied, signal })) {
      if (out.json) out.record(event);
      else if (event.connection) out.line(lineOf(event));
      else if (event.lost > 0) out.note(`paddock: ${event.lost} events are lost: there were more than could be kept`);
      else if (event.end) out.note('paddock: the network is closed');
    }
    return 0;
  },
});

function lineOf({ kind, connection }: NetworkEvent): string {
  const { host, address, port, protocol, code, reason, sentBytes, receivedBytes, openedAt, closedAt } = connection!;
  const time = (closedAt ?? openedAt).toISOString();
  const place = `${host || address}${port === 0 ? '' : `:${port}`}`;
  const more = {
    refused: `${code}: ${reason}`,
    closed: `${sizeText(sentBytes)} sent, ${sizeText(receivedBytes)} received`,
  }[kind];
  return printableName([time, kind, protocol, place, more].filter(Boolean).join('  '));
}
