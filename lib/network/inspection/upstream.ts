import { Agent } from 'node:http';
import type { Socket } from 'node:net';
import { connect, type SecureContext, type TLSSocket } from 'node:tls';
import type { InspectedTarget } from '../proxy/inspector.ts';

const HANDSHAKE_MS = 20_000;

/** The server of a name could not be reached, or is not who it should be. The message is one sentence. */
export class UpstreamError extends Error {}

type Dial = (signal: AbortSignal) => Promise<Socket>;

/** The one connection to the real server that serves one connection from inside. */
export class Upstream {
  readonly agent = new Agent({ keepAlive: true, maxSockets: 1, maxFreeSockets: 1 });
  readonly #open: () => Promise<TLSSocket>;
  /** What is being done for a client that is gone ends with it: such clients are not limited in number. */
  readonly #gone = new AbortController();

  /** `ended`: the server has closed its connection. */
  constructor(
    target: InspectedTarget,
    { dial, trusted, ended }: { dial: Dial; trusted: SecureContext; ended: () => void },
  ) {
    this.#open = async () => {
      const socket = await secured(await this.#dialled(target, dial), target, trusted, this.#gone.signal);
      socket.once('close', ended);
      return socket;
    };
    const createConnection = (_: object, callback: (error: Error | null, socket?: TLSSocket) => void): undefined => {
      this.#open().then(
        (socket) => callback(null, socket),
        (error) => callback(error),
      );
    };
    Object.assign(this.agent, { createConnection });
  }

  close(): void {
    this.#gone.abort();
    this.agent.destroy();
  }

  async #dialled({ host, port }: InspectedTarget, dial: Dial): Promise<Socket> {
    if (this.#gone.signal.aborted) throw new UpstreamError('the connection was closed');
    try {
      return await dial(this.#gone.signal);
    } catch (error) {
      const reason = (error as NodeJS.ErrnoException).code ?? (error as Error).message;
      throw new UpstreamError(`${host}:${port} cannot be reached: ${reason}`);
    }
  }
}

/** Resolves when the server has proved its name. Takes over `socket`, which is destroyed by `signal`, also afterwards. */
function secured(
  socket: Socket,
  { host }: InspectedTarget,
  trusted: SecureContext,
  signal: AbortSignal,
): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const tls = connect({ socket, servername: host, secureContext: trusted, ALPNProtocols: ['http/1.1'] });
    const fail = (reason: string) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', close);
      tls.destroy();
      socket.destroy();
      reject(new UpstreamError(reason));
    };
    const close = () => fail(`the connection to ${host} was closed`);
    const timer = setTimeout(() => fail(`${host} did not finish the TLS handshake`), HANDSHAKE_MS);
    signal.addEventListener('abort', close);
    tls.once('close', close);
    tls.once('error', (error: NodeJS.ErrnoException) => {
      fail(`the TLS connection to ${host} failed: ${error.code ?? error.message}: ${error.message}`.slice(0, 300));
    });
    tls.once('secureConnect', () => {
      clearTimeout(timer);
      tls.removeAllListeners('error');
      tls.on('error', () => tls.destroy());
      resolve(tls);
    });
    if (signal.aborted) close();
  });
}
