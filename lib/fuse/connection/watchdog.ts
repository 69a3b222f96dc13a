import type { Connection } from './connection.ts';
import { Deferred } from './deferred.ts';
import type { ConnectionEnd } from './threads.ts';

const TICKS = 4;
/**
 * Interval of the mount check in ms, each one read of /proc/self/mountinfo. Node cannot poll(2) that file for changes.
 */
const MOUNT_CHECK_MS = 1000;

/** A running watchdog. The caller calls `stop`. */
export interface Watchdog {
  /** Resolves with the reason when the connection is found dead. Never rejects. */
  alarm: Promise<ConnectionEnd>;
  /** Checks the mount now; `alarm` is resolved before this resolves if the mount is gone. */
  checkMount(): Promise<void>;
  stop(): void;
}

/**
 * Watches a connection. Raises the alarm when the request worker does not answer a ping for about `milliseconds`, or
 * when the mount is gone. It counts ticks of this thread's timer, so a pause of the whole process raises no alarm.
 */
export function watch(connection: Connection, milliseconds: number): Watchdog {
  const { control } = connection.threads;
  const alarm = new Deferred<ConnectionEnd>();
  let pinging = false;
  let missed = 0;
  const ping = setInterval(() => {
    if (pinging) {
      missed += 1;
      if (missed < TICKS) return;
      alarm.resolve({ reason: `the request worker did not answer for ${milliseconds} ms`, byWorker: true });
      return;
    }
    pinging = true;
    missed = 0;
    control
      .call('ping')
      .catch(() => {})
      .finally(() => {
        pinging = false;
      });
  }, milliseconds / TICKS);
  const checkMount = async () => {
    // An error (for example EMFILE) does not mean that the mount is gone.
    const mounted = await connection.isMounted().catch(() => true);
    if (!mounted) alarm.resolve({ reason: 'the mount was removed', byWorker: false });
  };
  const check = setInterval(() => void checkMount(), MOUNT_CHECK_MS);
  const timers = [ping, check];
  for (const timer of timers) timer.unref();
  return {
    alarm: alarm.promise,
    checkMount,
    stop: () => {
      for (const timer of timers) clearInterval(timer);
    },
  };
}
