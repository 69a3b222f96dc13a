import { connect, isIP, type Socket } from 'node:net';
import { type Destination, type Gate, inWords, Refused, refuse, Unreachable } from './gate.ts';

/** Milliseconds. */
const TIMES = { each: 10_000, all: 20_000, next: 250, keepAlive: 60_000 };
const MAX_ADDRESSES = 6;

type Dialler = Pick<Gate, 'decide' | 'resolve' | 'spareDescriptor'>;

/** A connection, and the address that was checked and is connected to. */
export interface Dialled {
  socket: Socket;
  address: string;
}

/**
 * The addresses that the policy allows. A name is resolved once and each of its addresses is checked: those that are
 * returned are connected to, so that a name that changes its address meanwhile reaches nothing else.
 */
export async function checkedAddresses(
  gate: Pick<Gate, 'decide' | 'resolve'>,
  { host, address, port }: Destination,
): Promise<string[]> {
  const addresses = host === undefined ? [address] : await resolved(gate, host);
  let refusal: Refused | undefined;
  const allowed = addresses.filter((each) => {
    const target = { host, address: each, port };
    const decision = gate.decide(target);
    if (!decision.allowed) refusal ??= refuse(decision, target);
    return decision.allowed && isIP(each) !== 0;
  });
  if (allowed.length === 0) throw refusal ?? new Refused('not_allowed', `${host ?? address} has no address`);
  return allowed.slice(0, MAX_ADDRESSES);
}

async function resolved(gate: Pick<Gate, 'resolve'>, host: string): Promise<readonly string[]> {
  const addresses = await gate.resolve(host).catch(() => {
    throw new Unreachable('name_unavailable', `no resolver answers for ${host}`);
  });
  if (addresses === undefined) throw new Unreachable('name_not_found', `the name ${host} does not exist`);
  return addresses;
}

/**
 * Connects to the first of the checked addresses that answers; the next one is tried when one takes long and there is a
 * descriptor for it, or when one fails. Ends with `signal`. The caller owns the socket; it has the error listener of the caller only.
 */
export async function dial(gate: Dialler, destination: Destination, signal: AbortSignal): Promise<Dialled> {
  const addresses = await checkedAddresses(gate, destination);
  const dialled = await race(addresses, destination, { gate, signal });
  const target = { ...destination, address: dialled.address };
  // The policy may have changed meanwhile.
  const decision = gate.decide(target);
  if (decision.allowed) return dialled;
  dialled.socket.destroy();
  throw refuse(decision, target);
}

function race(
  addresses: readonly string[],
  destination: Destination,
  { gate, signal }: { gate: Pick<Gate, 'spareDescriptor'>; signal: AbortSignal },
): Promise<Dialled> {
  return new Promise((resolve, reject) => {
    const sockets = new Set<Socket>();
    const waiting = [...addresses];
    const again = () => {
      if (waiting.length > 0) next = setTimeout(start, TIMES.next);
    };
    let next: NodeJS.Timeout | undefined;
    const finish = (winner?: Socket) => {
      waiting.length = 0;
      clearTimeout(next);
      clearTimeout(limit);
      signal.removeEventListener('abort', abort);
      for (const each of sockets) if (each !== winner) each.destroy();
    };
    const fail = (error: Error) => {
      finish();
      reject(error);
    };
    const abort = () => fail(new Unreachable('ended', 'the program ended the connection'));
    const limit = setTimeout(() => fail(unreachable(destination, 'ETIMEDOUT')), TIMES.all);
    const start = () => {
      clearTimeout(next);
      const address = waiting[0];
      if (address === undefined) return;
      // The place of the connection has a descriptor for one at a time.
      const giveBack = sockets.size === 0 ? () => undefined : gate.spareDescriptor();
      if (giveBack === undefined) return again();
      waiting.shift();
      const { socket, detach } = attempt(address, destination.port, (code) => {
        sockets.delete(socket);
        if (waiting.length > 0) start();
        else if (sockets.size === 0) fail(unreachable(destination, code));
      });
      sockets.add(socket);
      socket.once('close', giveBack).once('connect', giveBack);
      socket.once('connect', () => {
        detach();
        finish(socket);
        resolve({ socket, address });
      });
      again();
    };
    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort);
    start();
  });
}

function attempt(address: string, port: number, failed: (code: string) => void): { socket: Socket; detach(): void } {
  const keepAlive = { keepAlive: true, keepAliveInitialDelay: TIMES.keepAlive };
  const socket = connect({ host: address, port, allowHalfOpen: true, noDelay: true, ...keepAlive });
  const onError = (error: NodeJS.ErrnoException) => failed(error.code ?? '');
  const onTimeout = () => socket.destroy(Object.assign(new Error('timeout'), { code: 'ETIMEDOUT' }));
  socket.setTimeout(TIMES.each).once('timeout', onTimeout).once('error', onError);
  const detach = () => socket.setTimeout(0).off('timeout', onTimeout).off('error', onError);
  return { socket, detach };
}

function unreachable(destination: Destination, code: string): Unreachable {
  const what = inWords(destination);
  if (code === 'ECONNREFUSED') return new Unreachable('connection_refused', `${what} refused the connection`);
  if (code === 'ETIMEDOUT') return new Unreachable('timeout', `${what} did not answer in time`, true);
  return new Unreachable('unreachable', `${what} cannot be reached`);
}
