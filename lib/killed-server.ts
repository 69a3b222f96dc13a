import { readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from './log.ts';
import { LockedError, takeLock } from './metadata/lock.ts';
import { abortConnection, connectionAt } from './workspaces/index.ts';

/** Milliseconds in which most killed processes exit by themselves. */
const PATIENCE_MS = 1000;
/** Milliseconds for a process to exit after its FUSE connection was aborted. */
const END_MS = 10_000;
const POLL_MS = 100;
const SIGKILL = 1n << 8n;
/** A thread that is exiting: include/linux/sched.h. */
const PF_EXITING = 0x4;

/**
 * Like `takeLock`, but also takes the lock of a killed server that cannot exit. That happens when its notifier thread
 * waits in the kernel for a directory's inode lock, whose holder waits for a reply of the dead request worker. The
 * process then keeps its descriptors, and so its locks, its ports and the FUSE connection. Aborting the connection lets
 * it exit. A live server is never touched. `mountPoints`: where servers on this state mount.
 *
 * Returns the function that releases the lock.
 */
export async function takeLockOfDead(path: string, mountPoints: readonly string[], log: Log): Promise<() => void> {
  const start = performance.now();
  /** Holders seen with SIGKILL pending. Later, while they exit, neither that nor their descriptors need to be there. */
  const killed = new Set<number>();
  let aborted = false;
  for (;;) {
    try {
      return takeLock(path);
    } catch (error) {
      if (!(error instanceof LockedError)) throw error;
      const holders = holdersOf(path);
      const waited = performance.now() - start;
      for (const pid of holders) {
        if (!killed.has(pid) && !isBeingKilled(pid)) throw error;
        killed.add(pid);
      }
      // Without a holder: it has just exited, or it is not in this pid namespace.
      if (waited > (killed.size > 0 ? END_MS : PATIENCE_MS)) throw error;
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
  // On kernels without the connection number in fdinfo: what is mounted at the mount points, since only the holder of
  // the lock mounts there.
  const found = told.length > 0 ? told : (await Promise.all(mountPoints.map(connectionAt))).filter(isNumber);
  for (const connection of found) {
    // Checked again: as long as the process exists, the connection number cannot belong to another process.
    if (!isBeingKilled(pid)) return;
    const done = await abortConnection(connection);
    const message = done
      ? 'a server that was killed could not end; its FUSE connection was aborted'
      : 'a server that was killed cannot end, and its FUSE connection could not be aborted';
    log.warn(message, { pid, connection });
  }
}

/**
 * Process ids that hold a flock(2) lock on the file. The first thread of a killed process may have closed its files
 * already.
 */
function holdersOf(path: string): number[] {
  const file = realpathSync(path);
  return list('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && descriptorsOf(pid).some(({ target, info }) => target === file && hasLock(info)));
}

function hasLock(info: string): boolean {
  return /^lock:.*\bFLOCK\b/m.test(read(info));
}

/**
 * Whether every thread has exited, is exiting or has SIGKILL pending, so that no code of the process will run again in
 * user space.
 */
function isBeingKilled(pid: number): boolean {
  const threads = list(`/proc/${pid}/task`).map((thread) => `/proc/${pid}/task/${thread}`);
  // A thread that exited since it was listed has no files there.
  const present = threads.filter((thread) => read(`${thread}/status`) !== '');
  return present.length > 0 && present.every(hasEnded);
}

/** SIGKILL is pending until the thread takes it; from then on the thread has PF_EXITING (proc_pid_stat(5), flags). */
function hasEnded(thread: string): boolean {
  const status = read(`${thread}/status`);
  if (status === '' || /^State:\s+[ZX]/m.test(status)) return true;
  const pending = /^SigPnd:\s+([0-9a-f]+)/m.exec(status)?.[1];
  if (pending !== undefined && (BigInt(`0x${pending}`) & SIGKILL) !== 0n) return true;
  const stat = read(`${thread}/stat`);
  // After the name, which may contain spaces: state, ppid, pgrp, session, tty_nr, tpgid, flags.
  const flags = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[6]);
  return stat === '' || (flags & PF_EXITING) !== 0;
}

/** Connection numbers of the FUSE devices that a process has open (in fdinfo since about Linux 6.8). */
function connectionsOf(pid: number): number[] {
  const devices = descriptorsOf(pid).filter(({ target }) => target === '/dev/fuse');
  const numbers = devices.map(({ info }) => /^fuse_connection:\s+(\d+)$/m.exec(read(info))?.[1]);
  return [...new Set(numbers.filter((number) => number !== undefined).map(Number))];
}

/** Descriptors of the first thread that still has open files. Only readlink is used: opening the target could block. */
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
