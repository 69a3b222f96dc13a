import type { Connection } from './connection.ts';
import { Deferred } from './deferred.ts';

const TICKS = 4;

/**
 * Raises the alarm, with the reason, when the request worker leaves a ping unanswered for about `milliseconds` or the
 * mount is no longer there. Counts ticks of this thread's own timer, so that a pause of the whole process is no alarm.
 */
export function watch(connection: Connection, milliseconds: number): { alarm: Promise<string>; stop(): void } {
  const alarm = new Deferred<string>();
  let pinging = false;
  let missed = 0;
  const timer = setInterval(() => {
    if (pinging) {
      missed += 1;
      if (missed >= TICKS) alarm.resolve(`the request worker did not answer for ${milliseconds} ms`);
    } else {
      pinging = true;
      missed = 0;
      connection.threads.control
        .call('ping')
        .catch(() => {})
        .finally(() => {
          pinging = false;
        });
    }
    connection.isMounted().then(
      (mounted) => {
        if (!mounted) alarm.resolve('the mount was taken away');
      },
      () => {},
    );
  }, milliseconds / TICKS);
  timer.unref();
  return { alarm: alarm.promise, stop: () => clearInterval(timer) };
}
