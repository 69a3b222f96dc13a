import type { Socket } from 'node:net';
import type { Decision } from '../policy/policy.ts';
import { ALERTS, answerOf, endWithAlert, endWithAnswer, endWithGoAway } from './answers.ts';
import type { Connection } from './connections.ts';
import { checkedAddresses, dial } from './dial.ts';
import { type FirstBytes, NoRequest, readFirstBytes } from './first-bytes.ts';
import { type Destination, type Gate, inWords, Refused, record, refuse, Unreachable } from './gate.ts';
import type { HttpProxy } from './http-proxy.ts';
import { splice } from './splice.ts';

/**
 * Milliseconds until the first message of a client is complete; until the start of a line is passed on that may become a
 * request; and without a byte in a connection that passes, or in one that one side has ended: its program may be gone.
 */
export const TIMES = { first: 10_000, line: 300, idle: 900_000, half: 60_000 };
/** Where every program speaks first. */
const WEB_PORTS = new Set([80, 443]);
/** Without TLS. */
class RefusedHttp2 extends Refused {}
const NOTHING = Buffer.alloc(0);

/** A connection of a program, and what serves it. */
export interface Accepted {
  gate: Gate;
  connection: Connection;
  http: HttpProxy;
  times: typeof TIMES;
}

/** Serves a connection to a name or an address. Never throws. */
export function serveDirect(accepted: Accepted, destination: Destination): void {
  const { gate, connection } = accepted;
  const decision = gate.decide(destination);
  connection.use(destination, 'tcp', decision);
  const served = isChecked(destination, decision)
    ? serveWeb(accepted, destination)
    : decision.allowed
      ? serveOther(accepted, destination, NOTHING)
      : Promise.reject(refuse(decision, destination));
  served.catch((error: unknown) => end(accepted, destination, error));
}

/** Serves a connection to the proxy. */
export function serveProxy(accepted: Accepted): void {
  const { gate, connection, http } = accepted;
  const connect = (destination: Destination, head: Buffer) => void serveConnect(accepted, destination, head);
  http.accept({ gate, connection, destination: undefined, connect }, NOTHING);
}

async function serveConnect(accepted: Accepted, destination: Destination, head: Buffer): Promise<void> {
  const { gate, connection } = accepted;
  const socket = connection.client;
  try {
    await checkedAddresses(gate, destination);
  } catch (error) {
    if (error instanceof Refused) record(gate, error, destination, 'http');
    return endWithAnswer(socket, answerOf(error));
  }
  socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
  const isWeb = isChecked(destination, gate.decide(destination));
  const served = isWeb ? serveWeb(accepted, destination, head) : serveOther(accepted, destination, head);
  await served.catch((error: unknown) => end(accepted, destination, error));
}

/** Whether TLS and HTTP alone may pass: on other ports, if rules are about requests. */
const isChecked = ({ port }: Destination, { inspect }: Decision) => WEB_PORTS.has(port) || inspect;

/** The first bytes decide, and are checked before anything is opened outside. */
async function serveWeb(accepted: Accepted, destination: Destination, read: Buffer = NOTHING): Promise<void> {
  const { connection, times } = accepted;
  const first = await readFirstBytes(connection.client, { read, milliseconds: times.first });
  if (first.protocol === 'other' && first.head.length > 0) {
    if (WEB_PORTS.has(destination.port)) {
      throw new Refused('unknown_protocol', `port ${destination.port} is for TLS and HTTP`);
    }
    throw new Refused('needs_inspection', `the rules for ${inWords(destination)} are about requests`);
  }
  await serveChecked(accepted, destination, first);
}

/** A server of another protocol may speak first, so that it is connected to before the program has sent anything. */
async function serveOther(accepted: Accepted, destination: Destination, read: Buffer): Promise<void> {
  const { connection, times } = accepted;
  connection.isOpaque = true;
  const upstream = await open(accepted, destination);
  upstream.on('error', () => undefined);
  let spoke = () => undefined;
  const until = new Promise<void>((resolve) => {
    spoke = () => void resolve();
  });
  upstream.once('readable', spoke).once('close', spoke);
  const { client } = connection;
  const first = await readFirstBytes(client, {
    read,
    milliseconds: times.first,
    wait: times.idle,
    line: times.line,
    until,
  });
  upstream.off('readable', spoke).off('close', spoke);
  if (first.protocol === 'other') return pass(accepted, upstream, first.head);
  if (first.protocol === 'line') return passLine(accepted, destination, upstream, first.head);
  upstream.destroy();
  await serveChecked(accepted, destination, first);
}

async function serveChecked(accepted: Accepted, destination: Destination, first: FirstBytes): Promise<void> {
  const { gate, connection, http } = accepted;
  connection.isOpaque = false;
  if (connection.client.destroyed) return;
  if (first.protocol === 'tls') return serveTls(accepted, destination, first);
  if (first.protocol === 'http') {
    const connect = () => undefined;
    return http.accept({ gate, connection, destination, connect }, first.head);
  }
  if (first.protocol === 'http2') {
    throw new RefusedHttp2('unknown_protocol', 'HTTP/2 (gRPC) without TLS cannot be checked: use TLS, or HTTP/1.1');
  }
  if (first.protocol === 'unchecked') {
    throw new Refused('unknown_protocol', 'this form of TLS or HTTP cannot be checked');
  }
  // A program that sent nothing yet has not been refused anything.
  if (first.head.length === 0) return void connection.client.destroy();
  throw new Refused('timeout', 'the first message was not complete in time');
}

async function serveTls(
  accepted: Accepted,
  destination: Destination,
  { serverName, head }: { serverName: string | undefined; head: Buffer },
): Promise<void> {
  const { gate, connection } = accepted;
  const { host: name, address, port } = destination;
  connection.info.protocol = 'tls';
  if (name !== undefined && serverName !== name) {
    const claimed = serverName === undefined ? 'no name' : `the name ${serverName}`;
    throw new Refused('sni_mismatch', `the TLS connection to ${inWords(destination)} is for ${claimed} (SNI)`);
  }
  const host = name ?? serverName;
  const target = { host, address, port };
  const decision = gate.decide(target);
  connection.use(target, 'tls', decision);
  if (!decision.allowed) throw refuse(decision, target);
  if (host !== undefined && gate.inspector?.needed(host, decision.inspect)) {
    const [checked] = await checkedAddresses(gate, destination);
    connection.reached(checked!);
    const opened = (socket: Socket) => connection.hold(socket);
    return gate.inspector.handle(connection.client, head, { host, port, address: checked! }, opened);
  }
  if (decision.inspect) throw new Refused('needs_inspection', `the rules for ${inWords(target)} need inspected TLS`);
  connection.isOpaque = true;
  pass(accepted, await open(accepted, destination), head);
}

async function open({ gate, connection }: Accepted, destination: Destination): Promise<Socket> {
  const gone = new AbortController();
  const abort = () => gone.abort();
  connection.client.once('close', abort);
  if (connection.client.destroyed) abort();
  const { socket, address } = await dial(gate, destination, gone.signal);
  connection.client.off('close', abort);
  connection.hold(socket);
  connection.reached(address);
  return socket;
}

function limitIdle(connection: Connection, upstream: Socket, { idle, half }: typeof TIMES): void {
  const sides = [connection.client, upstream];
  const ended = () => {
    for (const each of sides) each.setTimeout(half);
  };
  for (const each of sides) each.setTimeout(idle, () => connection.cut()).once('end', ended);
  if (sides.some((each) => each.readableEnded)) ended();
}

/** `head`: what the client has sent already. */
function pass({ connection, times }: Accepted, upstream: Socket, head: Buffer): void {
  const { client } = connection;
  limitIdle(connection, upstream, times);
  // After its end, nothing can be put back.
  if (client.readableEnded) upstream.write(head);
  else if (head.length > 0) client.unshift(head);
  splice(client, upstream);
}

/** Passes the start of a line on, and refuses what becomes a request. */
function passLine(accepted: Accepted, destination: Destination, upstream: Socket, head: Buffer): void {
  const { connection, times } = accepted;
  const { client } = connection;
  const late = new Refused('unknown_protocol', 'a request of HTTP or TLS came in pieces');
  limitIdle(connection, upstream, times);
  if (head.length > 0) client.unshift(head);
  splice(client, upstream, new NoRequest(() => end(accepted, destination, late)));
}

function end({ gate, connection }: Accepted, destination: Destination, error: unknown): void {
  const { client, info } = connection;
  if (error instanceof Refused) {
    record(gate, error, connection.target ?? destination, info.protocol);
    Object.assign(info, { allowed: false, code: error.code, reason: error.message });
    if (error instanceof RefusedHttp2 && !client.destroyed) return void endWithGoAway(client, error.message);
    if (info.protocol === 'tls' && !client.destroyed) {
      return void endWithAlert(client, error.code === 'sni_mismatch' ? ALERTS.unrecognizedName : ALERTS.accessDenied);
    }
  } else if (error instanceof Unreachable) {
    Object.assign(info, { code: error.code, reason: error.message });
  }
  connection.cut();
}
