import type { Socket as DatagramSocket } from 'node:dgram';
import type { Socket } from 'node:net';
import type { FakeAddresses } from './fake-addresses.ts';
import { parseQuery, type Query, RESPONSE_CODES, TYPES } from './query.ts';
import { replyAddress, replyName, replyToGarbage, replyWithout } from './reply.ts';
import type { Addresses } from './resolution.ts';

interface NameServerOptions {
  fakes: FakeAddresses;
  /** Whether the policy allows any connection to the name. Records what is refused. */
  allows(name: string): boolean;
  /** Only asked for a name that is allowed. */
  resolve(name: string): Promise<Addresses>;
}

type Reply = Buffer | undefined;

/** Queries over UDP that wait for a resolver. */
const MAX_PENDING = 256;
/** A query has one question and few options. */
const MAX_QUERY_BYTES = 1232;
/** Milliseconds of a TCP connection without a query. */
const MAX_IDLE_MS = 10_000;
const REVERSE = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.in-addr\.arpa$/;

/**
 * The name server of one sandbox. An allowed name that exists outside has an address that stands for it, and no other
 * record; all other names do not exist. Nothing of a query goes outside but an allowed name.
 */
export class NameServer {
  readonly #options: NameServerOptions;
  #pending = 0;

  constructor(options: NameServerOptions) {
    this.#options = options;
  }

  /** Answers queries until the socket is closed. libuv reads at most 32 messages in a turn. */
  serve(socket: DatagramSocket): void {
    const ignore = () => undefined;
    socket.on('error', ignore);
    socket.on('message', (message, { address, port }) => {
      // A full send buffer and a client that is gone are the client's own loss.
      const send = (reply: Reply) => reply && !closed && socket.send(reply, port, address, ignore);
      // A client that asks faster than names are found asks again.
      if (this.#pending >= MAX_PENDING) return;
      // An error here would end the thread, and the networks of all sandboxes with it.
      try {
        const reply = this.#answer(message);
        if (reply instanceof Promise) reply.then(send).catch(ignore);
        else send(reply);
      } catch {}
    });
    let closed = false;
    socket.once('close', () => {
      closed = true;
    });
  }

  /** Answers the queries of one connection, one after the other. */
  serveStream(socket: Socket): void {
    socket.setTimeout(MAX_IDLE_MS, () => socket.destroy());
    socket.on('error', () => undefined);
    void this.#serveStream(socket).catch(() => socket.destroy());
  }

  async #serveStream(socket: Socket): Promise<void> {
    let rest: Buffer = Buffer.alloc(0);
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      rest = Buffer.concat([rest, chunk]);
      while (rest.length >= 2) {
        const length = rest.readUInt16BE(0);
        if (length > MAX_QUERY_BYTES) return;
        if (rest.length < 2 + length) break;
        const reply = await this.#answer(rest.subarray(2, 2 + length));
        if (!reply) return;
        rest = rest.subarray(2 + length);
        const prefix = Buffer.alloc(2);
        prefix.writeUInt16BE(reply.length);
        // A client that does not read is not answered.
        if (!socket.write(Buffer.concat([prefix, reply]))) return;
      }
    }
    socket.end();
  }

  /** At once where nothing is asked outside. */
  #answer(message: Buffer): Reply | Promise<Reply> {
    if (message.length > MAX_QUERY_BYTES) return undefined;
    const query = parseQuery(message);
    if (query === undefined) return undefined;
    if (typeof query === 'number') return replyToGarbage(message, query);
    const { name } = query;
    const absent = () => replyWithout(message, query, RESPONSE_CODES.NXDOMAIN);
    if (name === undefined) return absent();
    if (name.endsWith('.in-addr.arpa')) return this.#nameOf(message, query, name);
    if (!this.#options.allows(name)) return absent();
    if (query.type !== TYPES.A) return replyWithout(message, query, RESPONSE_CODES.NOERROR);
    return this.#addressOf(message, query, name);
  }

  async #addressOf(message: Buffer, query: Query, name: string): Promise<Buffer> {
    const failed = () => replyWithout(message, query, RESPONSE_CODES.SERVFAIL);
    this.#pending++;
    try {
      if ((await this.#options.resolve(name)) === undefined) {
        return replyWithout(message, query, RESPONSE_CODES.NXDOMAIN);
      }
    } catch {
      return failed();
    } finally {
      this.#pending--;
    }
    const address = this.#options.fakes.take(name);
    return address === undefined ? failed() : replyAddress(message, query, address);
  }

  #nameOf(message: Buffer, query: Query, reverse: string): Buffer {
    const address = REVERSE.exec(reverse)?.slice(1).reverse().join('.');
    const name = address === undefined ? undefined : this.#options.fakes.nameOf(address);
    if (name === undefined) return replyWithout(message, query, RESPONSE_CODES.NXDOMAIN);
    if (query.type !== TYPES.PTR) return replyWithout(message, query, RESPONSE_CODES.NOERROR);
    return replyName(message, query, name);
  }
}
