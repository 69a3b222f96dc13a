import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { hideKeys } from '../../../lib/access/key-format.ts';
import type { Need } from '../../../lib/access/need.ts';
import { ticketTarget } from '../../../lib/access/tickets.ts';
import { ServiceError } from '../../../lib/errors.ts';
import type { PreviewDomain } from '../../../lib/network/ports/preview-domain.ts';
import { missing } from '../../../lib/not-found.ts';
import type { Door, PortUse } from '../../../lib/port-services.ts';
import { ReadPace } from '../../../lib/read-pace.ts';
import type { Credentials, Services } from '../../../lib/services.ts';
import { clientNameOf } from '../../tls/client-name.ts';
import { type AcceptedHosts, requireOneHost } from '../accepted-host.ts';
import { accept, cutWhenAborted, requireHandshake } from '../attach/handshake.ts';
import { Peer } from '../attach/peer.ts';
import { refuseCrossOrigin } from '../cross-origin.ts';
import { answerFull, type Incoming, type Requests } from '../requests.ts';
import { parseTarget } from '../router.ts';
import { carryRequest, KeptEnded, mayKeep } from './exchange.ts';
import { answerPage, statusOf, wantsPage } from './page.ts';
import { PortAgent, routed } from './port-agent.ts';
import { ProgramSocket } from './program-socket.ts';
import { refuseForeignPage } from './same-site.ts';
import { type PreviewExchange, type PreviewTarget, previewTarget } from './target.ts';
import { carryBytes } from './tcp.ts';
import { answerWithCookie, isPageLoad, takeToken, tokensOf } from './token.ts';

/** What the use of a port needs from a caller with a key: what a command in the sandbox needs, which could use it too. */
const NEED: Need = { role: 'agent', scope: 'exec', on: 'sandbox' };
const COUNTS = ['connection'] as const;
/** Bytes of all bodies, WebSockets and connections in one turn of the event loop: about a millisecond. */
const TURN_BYTES = 1_048_576;
/** Bytes of programs that are parsed in one turn: they may cost a hundred times as much. */
const PARSED_BYTES = 131_072;

interface Shared {
  services: Services;
  hosts: AcceptedHosts;
  requests: Requests;
  isFull: () => boolean;
  domain: PreviewDomain | undefined;
}

interface Admitted {
  door: Door;
  release: () => void;
  /** The link token, if it was in the URL. */
  token?: string;
}

/** Responds to the requests to opened ports of sandboxes. */
export class Previews {
  readonly #shared: Shared;
  /** Of the bodies of all requests and answers. */
  readonly #pace = new ReadPace(TURN_BYTES, (next) => void setImmediate(next));
  /** Of what is parsed of programs. */
  readonly #parsing = new ReadPace(PARSED_BYTES, (next) => void setImmediate(next));
  readonly #agent = new PortAgent(this.#parsing);

  constructor(shared: Shared) {
    this.#shared = shared;
  }

  /** undefined: the request is not for an opened port. */
  targetOf(req: Pick<IncomingMessage, 'url' | 'headers'>): PreviewTarget | undefined {
    return previewTarget(req, this.#shared.domain);
  }

  /** Rejects only when the response itself could not be sent; the caller then destroys it. */
  async respond(incoming: Incoming, asked: PreviewTarget): Promise<void> {
    const { req, res } = incoming;
    try {
      this.#requireHost(req, asked, incoming.head !== undefined);
      if (this.#shared.isFull()) {
        answerFull(res);
        return;
      }
      const { token, query } = takeToken(asked.query);
      const target = { ...asked, query };
      if (target.door === 'host' && token === undefined && !hasKey(req)) refuseForeignPage(req);
      const admitted = this.#admit(incoming, target, token);
      const isTls = req.socket instanceof TLSSocket;
      if (admitted.token !== undefined && incoming.head === undefined && isPageLoad(req)) {
        admitted.release();
        answerWithCookie(res, target, admitted.token, admitted.door, { isTls, now: Date.now() });
      } else if (target.door === 'path' && target.path === '' && incoming.head === undefined) {
        admitted.release();
        // Relative links of the page would lead elsewhere.
        const location = `${target.prefix}/${asked.query === '' ? '' : `?${asked.query}`}`;
        res.writeHead(307, { location, 'cache-control': 'no-store', 'content-length': 0 }).end();
      } else {
        await this.#carry(incoming, target, admitted, isTls);
      }
    } catch (thrown) {
      const form = { statusOf, answerPage: wantsPage(incoming) ? answerPage : undefined };
      await this.#shared.requests.refuse(incoming, 'preview', thrown, form);
    }
  }

  /** By path the origin is that of the service. */
  #requireHost(req: IncomingMessage, { door }: PreviewTarget, isWebSocket: boolean): void {
    if (door === 'host') {
      requireOneHost(req);
      return;
    }
    this.#shared.hosts.check(req);
    refuseCrossOrigin(req, isWebSocket);
  }

  /** Whoever has a link token learns only whether it is that of an opened port. */
  #admit({ req, res, call }: Incoming, target: PreviewTarget, token: string | undefined): Admitted {
    const { sandboxId: sandbox_id, port, door: kind } = target;
    const { access, ports } = this.#shared.services;
    if (!hasKey(req) && kind !== 'connect') {
      const door = ports.find(sandbox_id, port);
      const valid = (token === undefined ? tokensOf(req) : [token]).find((each) => door?.accepts(each));
      if (door && valid !== undefined) {
        return { door, release: access.count(door.holder, COUNTS), ...(token !== undefined && { token }) };
      }
      if (token !== undefined && door) throw new ServiceError('PERMISSION_DENIED', 'the link token is not valid');
      if (token !== undefined) throw notOpen(port);
    }
    const end = (reason: ServiceError) => call.refuse(reason, () => res.destroy());
    const ticket = kind === 'connect' ? ticketOf(req, target) : undefined;
    const guard = access.admit(() => ({ ...credentialsOf(req), ticket }), NEED, end, COUNTS);
    try {
      guard.narrow({ sandbox_id });
      const door = ports.find(sandbox_id, port);
      if (door === undefined) throw notOpen(port);
      return { door, release: guard.release };
    } catch (error) {
      guard.release();
      throw error;
    }
  }

  async #carry(incoming: Incoming, target: PreviewTarget, { door, release }: Admitted, isTls: boolean): Promise<void> {
    const { req, res, head, call } = incoming;
    const endings = [release];
    try {
      const used = this.#shared.services.beginCall?.(target.sandboxId);
      if (used) endings.push(used);
      const use = door.use((reason) => call.refuse(reason, () => res.destroy()));
      endings.push(use.end);
      if (target.door === 'connect' && !requireHandshake(req, res, head)) return;
      if (target.door === 'connect') {
        await this.#connect(incoming, await use.connect(call.signal));
      } else {
        const paces = { pace: this.#pace, parsing: this.#parsing };
        await carry({ req, res, head, target, isTls, signal: call.signal, ...paces }, use, this.#agent);
      }
    } finally {
      for (const end of endings) end();
    }
  }

  async #connect({ req, res, head, call }: Incoming, socket: Socket): Promise<void> {
    socket.on('error', () => undefined);
    const cut = () => socket.destroy();
    res.once('close', cut);
    try {
      const peer = new Peer(await accept(req, res, head!));
      cutWhenAborted(peer, call.signal);
      await carryBytes(peer, socket, this.#pace);
    } finally {
      cut();
    }
  }
}

async function carry(exchange: PreviewExchange, use: PortUse, agent: PortAgent): Promise<void> {
  if (mayKeep(exchange)) {
    try {
      return await carryRequest(exchange, routed(agent, use.route(exchange.signal)));
    } catch (error) {
      if (!(error instanceof KeptEnded)) throw error;
    }
  }
  await carryRequest(exchange, new ProgramSocket(await use.connect(exchange.signal), exchange.parsing));
}

function notOpen(port: number): ServiceError {
  return missing('port', String(port), `port ${port} is not open`);
}

/** Fields with a key of the service, of which the program in the sandbox may have others with the same names. */
function credentialsOf({ headersDistinct, socket }: IncomingMessage): Credentials {
  const { authorization = [], 'x-api-key': apiKey = [] } = headersDistinct;
  const isKey = (value: string) => hideKeys(value) !== value;
  return {
    authorization: authorization.filter(isKey),
    apiKey: apiKey.filter(isKey),
    clientName: () => clientNameOf(socket),
  };
}

function hasKey(req: IncomingMessage): boolean {
  const { authorization, apiKey } = credentialsOf(req);
  return authorization.length + apiKey.length > 0;
}

/** Browsers send no key with a WebSocket. */
function ticketOf({ url = '/' }: IncomingMessage, { query }: PreviewTarget): Credentials['ticket'] {
  const value = new URLSearchParams(query).get('ticket');
  return value === null ? undefined : { value, target: ticketTarget(parseTarget(url).path, query) };
}
