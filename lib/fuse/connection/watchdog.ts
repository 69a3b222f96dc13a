import type { Connection } from './connection.ts';
import { Deferred } from './deferred.ts';
import type { ConnectionEnd } from './threads.ts';

const TICKS = 4;
/** One read of /proc/self/mountinfo. Nothing that Node can wait for tells of a change of mounts. */
const MOUNT_CHECK_MS = 1000;

export interface Watchdog {
  alarm: Promise<ConnectionEnd>;
  /** Raises the alarm when the mount is gone; resolves when that is known. */
  checkMount(): Promise<void>;
  stop(): void;
}

/**
 * Raises the alarm when the request worker leaves a ping unanswered for about `milliseconds`, or the mount is no longer
 * there. Counts ticks of this thread's own timer, so that a pause of the whole process is no alarm.
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
    // Unknown (no descriptor is left for the look) is not gone.
    const mounted = await connection.isMounted().catch(() => true);
    if (!mounted) alarm.resolve({ reason: 'the mount was taken away', byWorker: false });
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
