import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { type Paddock, type PortConnection, Ports } from 'paddock-sandbox';
import { CliError, sentenceOf } from '../command-line/errors.ts';

interface Forward {
  paddock: Paddock;
  sandboxId: string;
  port: number;
  /** Of 127.0.0.1. */
  localPort: number;
  /** Ends it. */
  signal: AbortSignal;
  note(text: string): void;
}

/** Carries connections to a port of this machine to an opened port of a sandbox until the signal. */
export async function forward(how: Forward): Promise<void> {
  const { port, localPort, signal, note } = how;
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket)).on('error', () => undefined);
    carry(socket, how).catch(async (error: unknown) => {
      socket.resetAndDestroy();
      if (!signal.aborted) note(`paddock: ${await reasonOf(error, how)}`);
    });
  });
  await listen(server, localPort);
  note(`127.0.0.1:${localPort} is port ${port} of the sandbox`);
  if (!signal.aborted) await once(signal, 'abort');
  server.close();
  for (const socket of sockets) socket.destroy();
}

async function listen(server: Server, port: number): Promise<void> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening').catch((cause: NodeJS.ErrnoException) => {
    const what = cause.code === 'EADDRINUSE' ? 'is in use: choose another one with PORT:LOCAL-PORT' : cause.message;
    throw new CliError(`port ${port} of this machine ${what}`, { cause });
  });
}

async function carry(socket: Socket, { paddock, sandboxId, port, signal }: Forward): Promise<void> {
  const connection = await new Ports(paddock.api, sandboxId).connect(port, { signal });
  socket.once('close', () => connection.close());
  socket.resume();
  await Promise.all([fromHere(socket, connection), fromThere(socket, connection)]);
}

async function fromHere(socket: Socket, connection: PortConnection): Promise<void> {
  // The other direction outlives the end of this one.
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) await connection.write(chunk as Buffer);
  if (!socket.destroyed) connection.end();
}

async function fromThere(socket: Socket, connection: PortConnection): Promise<void> {
  for await (const bytes of connection) {
    if (socket.destroyed) return;
    if (!socket.write(bytes)) await Promise.race([once(socket, 'drain'), once(socket, 'close')]);
  }
  socket.end();
}

/** A WebSocket does not tell why it was refused. */
async function reasonOf(error: unknown, { paddock, sandboxId, port, signal }: Forward): Promise<string> {
  const found = await paddock.api.waitPort({ sandboxId, port }, { signal }).catch(() => undefined);
  return found && !found.listening ? `nothing listens on port ${port} of the sandbox` : sentenceOf(error);
}
