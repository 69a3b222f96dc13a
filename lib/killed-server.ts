import { readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from './log.ts';
import { LockedError, takeLock } from './metadata/lock.ts';
import { abortConnection, connectionAt } from './workspaces/index.ts';

/** In which most killed processes end by themselves. */
const PATIENCE_MS = 1000;
/** In which one ends whose connection was aborted. */
const END_MS = 10_000;
const POLL_MS = 100;
const SIGKILL = 1n << 8n;

/**
 * `takeLock`, also from a server that was killed and does not end. That happens when its notifier thread waits in the
 * kernel for the lock of a directory, whose holder waits for an answer of the request worker, which is dead: the process
 * keeps its descriptors, and so its locks, its ports, and the connection on which both wait. Aborting that ends it.
 * Nothing is done to a server that lives. `mountPoints`: where servers on this state mount.
 */
export async function takeLockOfDead(path: string, mountPoints: readonly string[], log: Log): Promise<() => void> {
  const start = performance.now();
  let aborted = false;
  for (;;) {
    try {
      return takeLock(path);
    } catch (error) {
      if (!(error instanceof LockedError)) throw error;
      const holders = holdersOf(path);
      const waited = performance.now() - start;
      // Whoever has just ended holds it no more.
      if (holders.length > 0 && !holders.every(isBeingKilled)) throw error;
      if (waited > END_MS || (holders.length === 0 && waited > PATIENCE_MS)) throw error;
      if (!aborted && waited > PATIENCE_MS) {
        aborted = true;
        for (const pid of holders) await abortFor(pid, mountPoints, log);
      }
    }
    await delay(POLL_MS);
  }
}

async function abortFor(pid: number, mountPoints: readonly string[], log: Log): Promise<void> {
  const told = connectionsOf(pid);
  // Kernels that do not tell it by the descriptor: what is mounted where only the holder of the lock mounts.
  const found = told.length > 0 ? told : (await Promise.all(mountPoints.map(connectionAt))).filter(isNumber);
  for (const connection of found) {
    // It has not ended meanwhile, so the number is still its connection's.
    if (!isBeingKilled(pid)) return;
    const done = await abortConnection(connection);
    const message = done
      ? 'a server that was killed could not end; its FUSE connection was aborted'
      : 'a server that was killed cannot end, and its FUSE connection could not be aborted';
    log.warn(message, { pid, connection });
  }
}

/** Processes that have the flock(2) on the file. The first thread of a killed one has closed its files already. */
function holdersOf(path: string): number[] {
  const file = realpathSync(path);
  return list('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && descriptorsOf(pid).some(({ target, info }) => target === file && hasLock(info)));
}

function hasLock(info: string): boolean {
  return /^lock:.*\bFLOCK\b/m.test(read(info));
}

/** Every thread has ended or has SIGKILL pending: nothing of it will ever run again outside of the kernel. */
function isBeingKilled(pid: number): boolean {
  const threads = list(`/proc/${pid}/task`).map((thread) => read(`/proc/${pid}/task/${thread}/status`));
  // A thread that ended between the two looks has no status any more.
  const present = threads.filter((status) => status !== '');
  return present.length > 0 && present.every(hasEnded);
}

function hasEnded(status: string): boolean {
  if (/^State:\s+[ZX]/m.test(status)) return true;
  const pending = /^SigPnd:\s+([0-9a-f]+)/m.exec(status)?.[1];
  return pending !== undefined && (BigInt(`0x${pending}`) & SIGKILL) !== 0n;
}

/** Numbers of the FUSE connections that a process serves, as Linux tells from 6.8 or so on. */
function connectionsOf(pid: number): number[] {
  const devices = descriptorsOf(pid).filter(({ target }) => target === '/dev/fuse');
  const numbers = devices.map(({ info }) => /^fuse_connection:\s+(\d+)$/m.exec(read(info))?.[1]);
  return [...new Set(numbers.filter((number) => number !== undefined).map(Number))];
}

/** Of the first thread that still has its files. Only looked at by name: what they lead to may not answer. */
function descriptorsOf(pid: number): { target: string; info: string }[] {
  for (const thread of list(`/proc/${pid}/task`)) {
    const directory = `/proc/${pid}/task/${thread}`;
    const open = list(`${directory}/fd`).flatMap((fd) => {
      try {
        return [{ target: readlinkSync(`${directory}/fd/${fd}`), info: `${directory}/fdinfo/${fd}` }];
      } catch {
        return [];
      }
    });
    if (open.length > 0) return open;
  }
  return [];
}

function isNumber(value: number | undefined): value is number {
  return value !== undefined;
}

function list(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
