import type { Readable, Writable } from 'node:stream';
import type { ReadPace } from '../../../lib/read-pace.ts';

/**
 * Like `from.pipe(to)`, at the pace that all of them share. The threat: hundreds of endless streams that are all ready are moved in
 * each turn of the event loop, and a command of another sandbox waits for several turns.
 */
export function pacedPipe(from: Readable, to: Writable, pace: ReadPace): void {
  let isFull = to.writableNeedDrain;
  let isQueued = false;
  const goOn = () => {
    if (!isFull && !isQueued) from.resume();
  };
  const reader = {
    resume: () => {
      isQueued = false;
      goOn();
    },
  };
  from.on('data', (data: Buffer) => {
    if (to.destroyed) return;
    isFull = !to.write(data);
    isQueued = !pace.took(reader, data.length);
    if (isFull || isQueued) from.pause();
  });
  to.on('drain', () => {
    isFull = false;
    goOn();
  });
  from.once('end', () => {
    if (!to.destroyed) to.end();
  });
  const leave = () => void pace.leave(reader);
  from.once('close', leave);
  to.once('close', leave);
  if (isFull) from.pause();
  goOn();
}

/** Accounts for bytes that were read. Resolves when the next may be. */
export function pacedTurn(size: number, pace: ReadPace): Promise<void> {
  return new Promise((resolve) => {
    if (pace.took({ resume: resolve }, size)) resolve();
  });
}
