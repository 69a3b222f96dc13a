import { NotFoundError, Paddock } from 'paddock-sandbox';
import type { Context } from '../command-line/command.ts';
import { Socket } from '../terminal/socket.ts';
import { forward } from './forward.ts';

export interface Forwarded {
  sandboxId: string;
  port: number;
  localPort: number;
}

/** Carries connections until the signal. The port is opened for that, for callers with a key, unless it is open. */
export async function forwardOpened(
  { api }: Paddock,
  ports: Forwarded,
  { out, signal }: Pick<Context, 'out' | 'signal'>,
) {
  const paddock = new Paddock({ ...api.settings, WebSocket: Socket as never });
  const { sandboxId, port } = ports;
  const opened = await openUnlessOpen(paddock, { sandboxId, port }, signal);
  try {
    await forward({ ...ports, paddock, signal, note: (text) => out.note(text) });
  } finally {
    // The signal that ends the command must not end this call.
    if (opened) await paddock.api.closePort({ sandboxId, port }).catch(() => undefined);
  }
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
