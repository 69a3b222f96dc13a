import { NotFoundError } from '../../../typescript/src/errors.ts';
import { Paddock } from '../../../typescript/src/paddock.ts';
import { command } from '../command.ts';
import { UsageError } from '../errors.ts';
import { countOf } from '../exec/durations.ts';
import { forward } from '../forward/forward.ts';
import { sandboxIdOf } from '../resolve.ts';
import { Socket } from '../terminal/socket.ts';

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
    const [given = '', here = given, ...more] = operands[1]!.split(':');
    if (more.length > 0) throw new UsageError(`ports are PORT or PORT:LOCAL-PORT, not ${operands[1]}`);
    const [port, localPort] = [portOf(given), portOf(here)];
    const { api } = await context.paddock();
    const paddock = new Paddock({ ...api.settings, WebSocket: Socket as never });
    const sandboxId = await sandboxIdOf(paddock, operands[0]!, context);
    const { signal } = context;
    const opened = await openUnlessOpen(paddock, { sandboxId, port }, signal);
    try {
      await forward({ paddock, sandboxId, port, localPort, signal, note: (text) => context.out.note(text) });
    } finally {
      // The signal that ends the command must not end this call.
      if (opened) await paddock.api.closePort({ sandboxId, port }).catch(() => undefined);
    }
    return 0;
  },
});

function portOf(text: string): number {
  const port = countOf('port', text);
  if (port < 1 || port > 65_535) throw new UsageError(`a port is a number from 1 to 65535, not ${text}`);
  return port;
}

/** Returns whether it opened the port: to open it again would end what others do with it. */
async function openUnlessOpen(
  { api }: Paddock,
  request: { sandboxId: string; port: number },
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await api.getPort(request, { signal });
    return false;
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
    await api.openPort({ ...request, access: 'key' }, { signal });
    return true;
  }
}
