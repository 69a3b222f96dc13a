import { closeSync, constants, openSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { type ListeningSocket, listeningSockets } from '../linux/listening-sockets.ts';
import type { ListeningPort } from './runtime.ts';

/** Milliseconds of one step of a search through the processes of a sandbox. */
const STEP_MS = 2;
/** Descriptors that one search looks at: a sandbox that has more shows ports without their processes. */
const MOST_DESCRIPTORS = 100_000;

/** Bytes of a table of sockets that are read. */
const MOST_BYTES = 1_048_576;
const READ_BYTES = 65_536;
/** Bytes of the longest line of a table, which a read may divide. */
const LINE_BYTES = 256;
/** A line of a socket that does not listen. */
const OTHER_STATE = /^ *\d+: \S+ \S+ (?!0A)\S\S /m;

/**
 * The directory of one process in the host's /proc, held open: after its end reads fail, also if its pid is used again.
 * The caller closes it.
 */
class HeldProcess {
  readonly #fd: number;

  constructor(pid: number) {
    this.#fd = openSync(`/proc/${pid}`, constants.O_RDONLY | constants.O_DIRECTORY);
  }

  path(name: string): string {
    return `/proc/self/fd/${this.#fd}/${name}`;
  }

  close(): void {
    closeSync(this.#fd);
  }
}

/**
 * The listening TCP ports of the sandbox that the process `pid` is in, in the order of their numbers, read from its
 * /proc. Nothing runs in the sandbox. Of a network that the host has too, only sockets of processes of
 * the sandbox are returned. Throws if the process has ended.
 */
export async function listeningPorts(pid: number): Promise<ListeningPort[]> {
  const held = new HeldProcess(pid);
  try {
    // A process of the host: its pid was used again before it was opened.
    if (!/^NSpid:\t\d+\t/m.test(readFileSync(held.path('status'), 'latin1'))) throw new Error('not in a sandbox');
    const tables = await Promise.all(['net/tcp', 'net/tcp6'].map((name) => listeningPart(held.path(name))));
    const sockets = tables
      .flatMap((text) => listeningSockets(text))
      .sort((a, b) => a.port - b.port || (a.address < b.address ? -1 : 1));
    if (sockets.length === 0) return [];
    const owners = await ownersOf(sockets, held.path('root/proc'));
    const isShared = readlinkSync(held.path('ns/net')) === readlinkSync('/proc/self/ns/net');
    return sockets.flatMap(({ port: number, address, inode }) => {
      const owner = owners.get(inode);
      if (isShared && owner === undefined) return [];
      return [{ port: number, address, pid: owner?.pid ?? 0, program: owner?.program ?? '' }];
    });
  } finally {
    held.close();
  }
}

interface Owner {
  /** Inside the sandbox. */
  pid: number;
  program: string;
}

/** One process for each socket, by inode; `proc`: the sandbox's own /proc. In steps, as there may be thousands. */
async function ownersOf(sockets: readonly ListeningSocket[], proc: string): Promise<Map<string, Owner>> {
  const wanted = new Set(sockets.map(({ inode }) => `socket:[${inode}]`));
  const owners = new Map<string, Owner>();
  let looked = 0;
  let began = performance.now();
  for (const name of namesIn(proc)) {
    if (!/^\d+$/.test(name)) continue;
    for (const fd of namesIn(`${proc}/${name}/fd`)) {
      if (owners.size === wanted.size || ++looked > MOST_DESCRIPTORS) return owners;
      const link = linkOf(`${proc}/${name}/fd/${fd}`);
      if (wanted.has(link)) {
        const inode = link.slice('socket:['.length, -1);
        if (!owners.has(inode))
          owners.set(inode, { pid: Number(name), program: textOf(`${proc}/${name}/comm`).trim() });
      }
      if (performance.now() - began < STEP_MS) continue;
      await setImmediate();
      began = performance.now();
    }
  }
  return owners;
}

/**
 * The part of a table of sockets with those that listen: the kernel lists them first (tcp_seq_start in tcp_ipv4.c). The
 * threat: a program that leaves tens of thousands of closed connections in the table. It is read outside of the main
 * thread: at its end the kernel walks through the sockets of all networks, which takes milliseconds.
 */
async function listeningPart(path: string): Promise<string> {
  let table: FileHandle | undefined;
  let text = '';
  try {
    table = await open(path);
    const piece = Buffer.allocUnsafe(READ_BYTES);
    while (text.length < MOST_BYTES) {
      const { bytesRead } = await table.read(piece);
      if (bytesRead === 0) break;
      text += piece.toString('latin1', 0, bytesRead);
      if (OTHER_STATE.test(text.slice(-bytesRead - LINE_BYTES))) break;
    }
  } catch {
    // The process has ended.
  } finally {
    await table?.close();
  }
  return text;
}

/** A process that has ended meanwhile has nothing. */
function namesIn(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
