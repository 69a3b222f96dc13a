import { createServer, connect as open, type Socket } from 'node:net';

/** `asked`: the daemon has the request, and answers later. `answered`: the daemon has answered, and the client has not seen it. */
export type Moment = 'asked' | 'answered';

/** A socket in front of a Docker daemon that tells each moment of each request. One connection is one request. */
export interface SteppedProxy {
  readonly host: string;
  /** Called in the same turn in which the moment comes. `request`: like `POST /containers/create`, without ids. */
  onMoment: (moment: Moment, request: string) => void;
  close(): Promise<void>;
}

/** Ids of containers and digests of images, and the query, differ from run to run. */
const plain = (line: string) => line.replace(/\?.*/, '').replace(/[0-9a-f]{64}|paddock-[\w-]+/, 'ID');

export async function startSteppedProxy(daemon: string, path: string): Promise<SteppedProxy> {
  const sockets = new Set<Socket>();
  const proxy: SteppedProxy = { host: `unix://${path}`, onMoment: () => {}, close };
  const server = createServer((client) => {
    const upstream = open(daemon);
    let request: string | undefined;
    let isAnswered = false;
    client.on('data', (data) => {
      upstream.write(data);
      if (request !== undefined) return;
      const [method, target] = data.toString('latin1').split(' ', 2);
      request = plain(`${method} ${target}`);
      proxy.onMoment('asked', request);
    });
    upstream.on('data', (data) => {
      if (!isAnswered) proxy.onMoment('answered', request ?? '');
      isAnswered = true;
      client.write(data);
    });
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
  });
  function close(): Promise<void> {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(() => resolve()));
  }
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return proxy;
}
