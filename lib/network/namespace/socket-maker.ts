import type { Socket as DgramSocket } from 'node:dgram';
import { isIP, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { invalidArgument, ServiceError } from '../../errors.ts';
import type { Answers } from './answers.ts';
import { connectError, openError } from './failures.ts';
import { datagramSocketOf, serverOf, socketOf } from './handles.ts';
import { HelperEnded, HelperProcess } from './helper-process.ts';
import { socketMakerProgram } from './program.ts';

/** An address in the namespace: an IP address without brackets or zone. */
export interface Place {
  address: string;
  port: number;
}

export interface WantedSockets {
  tcp: readonly Place[];
  udp: readonly Place[];
  /** See `routes`. */
  routes: readonly string[];
}

/** A pid; with its start (`startOf`) no other process is meant, also when the pid is used again. */
export type HostProcess = number | { pid: number; start: string };

/**
 * Makes sockets in the network namespaces of sandboxes; nothing of it is left in them. `pid` is the host pid of a process of a
 * sandbox. Every call rejects with FAILED_PRECONDITION if this host lacks what it needs, with UNAVAILABLE if the
 * sandbox has ended, or if the request failed for a reason that may pass. Nothing waits longer than some seconds.
 *
 * A pid may be used again: the caller must know after a call that the process has not ended, or close what it got. A
 * process of the host, or in its network, is refused.
 */
export interface SocketMaker {
  /** Resolves if this host can make sockets; whether it may enter a namespace is known with the first one. */
  probe(): Promise<void>;
  /**
   * TCP listeners and UDP sockets in the order of `wanted`, all or nothing; brings `lo` up. FAILED_PRECONDITION
   * with the address if a program of the sandbox has one of the ports. The caller must add its listeners of events in the same
   * turn, before it waits for anything else.
   */
  open(pid: HostProcess, wanted: WantedSockets): Promise<{ servers: Server[]; datagrams: DgramSocket[] }>;
  /**
   * Adds and removes local routes: all addresses of a prefix (`198.18.0.0/15`, `2001:db8::/32`) are the sandbox's own. Adding one
   * that exists and removing one that does not are no errors.
   */
  routes(pid: HostProcess, add: readonly string[], remove: readonly string[]): Promise<void>;
  /**
   * A connection made inside, to 127.0.0.1 or else ::1. An Error with the code ECONNREFUSED if nothing listens there, ETIMEDOUT
   * if it is not accepted. The caller must add its listeners of events in the same turn.
   */
  connect(pid: number, port: number): Promise<Socket>;
  /** Ends the process. Calls in progress fail with UNAVAILABLE, later ones too. Idempotent. */
  close(): Promise<void>;
}

/** Most sockets and routes of one request. */
const MOST = 1024;
/** Attempts for one request: the process may have been killed meanwhile. */
const ATTEMPTS = 3;
const AGAIN_MS = 50;

/**
 * A socket maker with one process, started at the first use and again after its end. `program`: understands the arguments of
 * perl. The process keeps the thread alive only while a call is in progress.
 */
export function createSocketMaker(program = 'perl', architecture: NodeJS.Architecture = process.arch): SocketMaker {
  const text = socketMakerProgram(architecture);
  let helper: HelperProcess | undefined;
  let closed = false;

  async function ask(request: string): Promise<Answers> {
    if (text === undefined) {
      const problem = `the network of sandboxes is not supported on ${architecture}, only on x64 and arm64`;
      throw new ServiceError('FAILED_PRECONDITION', problem);
    }
    for (let attempt = 1; ; attempt++) {
      if (closed) throw new ServiceError('UNAVAILABLE', 'the network of sandboxes is closed');
      if (helper === undefined || helper.failure) helper = new HelperProcess(program, ['-e', text]);
      try {
        return await helper.ask(request);
      } catch (error) {
        if (!(error instanceof HelperEnded) || attempt === ATTEMPTS) throw error;
        // What it was doing ends with it, but not at the same moment.
        await delay(AGAIN_MS);
      }
    }
  }

  return {
    async probe() {
      // There is no process 0: the answer shows that the program runs.
      const answers = await ask('routes 0');
      answers.discard();
    },
    async open(pid, { tcp, udp, routes }) {
      const words = [...added(routes), ...placed('t', tcp), ...placed('u', udp)];
      const answers = await ask(line('open', pid, words));
      const handles = answers.take(tcp.length + udp.length, openError);
      const servers = handles.slice(0, tcp.length).map(serverOf);
      const datagrams = handles.slice(tcp.length).map((handle, index) => datagramSocketOf(handle, udp[index]!.address));
      return { servers, datagrams };
    },
    async routes(pid, add, remove) {
      const answers = await ask(line('routes', pid, [...added(add), ...removed(remove)]));
      answers.take(0, openError);
    },
    async connect(pid, port) {
      const answers = await ask(line('connect', pid, [`${portOf(port)}`]));
      return socketOf(answers.take(1, connectError)[0]!);
    },
    async close() {
      closed = true;
      helper?.close();
    },
  };
}

const added = (prefixes: readonly string[]) => prefixes.map((each) => `+${prefixOf(each)}`);
const removed = (prefixes: readonly string[]) => prefixes.map((each) => `-${prefixOf(each)}`);
const placed = (kind: 't' | 'u', places: readonly Place[]) =>
  places.map(({ address, port }) => `${kind}${addressOf(address)}/${portOf(port)}`);

function line(what: string, process: HostProcess, words: readonly string[]): string {
  const { pid, start } = typeof process === 'number' ? { pid: process, start: undefined } : process;
  if (words.length > MOST) throw new ServiceError('INVALID_ARGUMENT', `a network has at most ${MOST} ports and routes`);
  if (!Number.isInteger(pid) || pid <= 0) throw new Error(`${pid} is no pid`);
  return [what, pid, ...(start === undefined ? [] : [`=${start}`]), ...words].join(' ');
}

function addressOf(text: string): string {
  if (isIP(text) === 0 || text.includes('%')) throw invalidArgument('address', `must be an IP address: ${text}`);
  return text;
}

function portOf(port: number): number {
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw invalidArgument('port', 'must be from 1 to 65535');
  return port;
}

function prefixOf(text: string): string {
  const [, address = '', length = ''] = /^([^/]+)\/(\d{1,3})$/.exec(text) ?? [];
  const family = isIP(address);
  if (family === 0 || address.includes('%') || Number(length) > (family === 4 ? 32 : 128)) {
    throw invalidArgument('route', `must be a prefix like 198.18.0.0/15: ${text}`);
  }
  return text;
}
