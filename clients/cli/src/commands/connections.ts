import type { NetworkEvent } from 'paddock-sandbox';
import { command, one } from '../command-line/command.ts';
import { printableName } from '../output/printable.ts';
import { agoText } from '../output/process-text.ts';
import { sizeText } from '../output/progress.ts';

export const connections = command({
  summary: 'list the connections of a sandbox, and the refused ones, the newest first',
  operands: { sandbox: one('SANDBOX') },
  options: {},
  examples: ['paddock network connections SANDBOX'],
  async run(context, { operands: { sandbox } }) {
    const found = (await context.sandbox(sandbox)).network.connections(context.call);
    await context.out.list(found, {
      heading: ['HOST', 'PROTOCOL', 'STATE', 'SENT', 'RECEIVED', 'STARTED'],
      row: (each) => [
        printableName(`${each.host || each.address}:${each.port}`),
        each.protocol,
        each.allowed ? (each.closedAt ? 'closed' : 'open') : each.code,
        String(each.sentBytes),
        String(each.receivedBytes),
        agoText(each.openedAt),
      ],
    });
  },
});

export const watch = command({
  summary: 'show connections of a sandbox, and what is refused, as it happens',
  details: 'It begins with what the server has kept, and ends when the sandbox is stopped or has no network any more.',
  operands: { sandbox: one('SANDBOX') },
  options: { denied: { help: 'only what is refused' } },
  examples: ['paddock network watch SANDBOX', 'paddock network watch --denied --json SANDBOX'],
  async run({ out, signal, ...context }, { operands: { sandbox }, values }) {
    const { network } = await context.sandbox(sandbox);
    for await (const event of network.watch({ deniedOnly: values.denied, signal })) {
      if (out.json) out.record(event);
      else if (event.connection) out.line(lineOf(event));
      else if (event.lost > 0) out.note(`paddock: ${event.lost} events are lost: there were more than could be kept`);
      else if (event.end) out.note('paddock: the network is closed');
    }
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
