import { Agent, type ClientRequest, type ClientRequestArgs } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Route } from '../../../lib/port-services.ts';
import type { ReadPace } from '../../../lib/read-pace.ts';
import { ProgramSocket } from './program-socket.ts';

/**
 * A connection without a request is ended after this time. Short, because a server that serves one connection at a time waits for
 * it, and because kept connections are not counted: there are as many as are made in this time.
 */
const KEPT_MS = 1000;
/** Most kept connections of one port. */
const MOST_KEPT = 16;

/** Options of `http.request` that have `agent` find or make a connection. */
export const routed = (agent: PortAgent, route: Route): ClientRequestArgs => ({ agent, route }) as ClientRequestArgs;

/** Keeps the connections of HTTP requests to opened ports for a moment: a new one costs a process that enters the sandbox. */
export class PortAgent extends Agent {
  readonly #pace: ReadPace;

  /** `pace`: see `ProgramSocket`. */
  constructor(pace: ReadPace) {
    super({ keepAlive: true, timeout: KEPT_MS, maxFreeSockets: MOST_KEPT, scheduling: 'lifo' });
    this.#pace = pace;
  }

  override getName(options?: ClientRequestArgs): string {
    return routeOf(options).name;
  }

  override createConnection(
    options: ClientRequestArgs,
    callback?: (error: Error | null, socket: Duplex) => void,
  ): undefined {
    const made = (socket: Socket) => {
      // Otherwise the end of a kept connection would show only with the next request.
      socket.allowHalfOpen = false;
      callback?.(null, new ProgramSocket(socket, this.#pace));
    };
    routeOf(options)
      .connect()
      .then(made, (error: Error) => callback?.(error, undefined as never));
  }

  /** What a program sends without a request must not be taken for the answer to the next one. */
  override keepSocketAlive(socket: Duplex): boolean {
    socket.on('data', destroy);
    // @ts-expect-error It returns whether the socket is kept, which the types do not say.
    return super.keepSocketAlive(socket);
  }

  override reuseSocket(socket: Duplex, request: ClientRequest): void {
    socket.off('data', destroy);
    super.reuseSocket(socket, request);
  }
}

function destroy(this: Duplex): void {
  this.destroy();
}

const routeOf = (options: unknown) => (options as { route: Route }).route;
