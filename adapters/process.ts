import { writeSync } from 'node:fs';
import type { Log } from '../lib/log.ts';

/** What ending may take in all; a supervisor's patience is usually ten seconds. */
const END_MS = 8500;
/** After a defect less is waited for: nothing can be relied on. */
const BROKEN_END_MS = 4000;

/** Ctrl-C reaches a whole process group, and a wrapper like npm passes it on: within this time that is one signal. */
const ONE_SIGNAL_MS = 500;

export interface ProcessLife {
  /** The end has begun. */
  readonly ending: boolean;
  /** Ends everything and the process. */
  end(code: number): Promise<never>;
  /** The start failed: one line on stderr, and the end. */
  fail(line: string): Promise<never>;
  /** Synchronous: gives back what would outlive the process or keep it from ending. */
  lastResort: () => void;
}

/**
 * Signals and defects. The first SIGTERM or SIGINT ends the server in order with exit code 0, also while it starts; a
 * second one ends it at once. A defect ends it with exit code 1, after an attempt to leave nothing behind.
 */
export function watchProcess(log: Log, unwind: () => Promise<void>): ProcessLife {
  let ended: Promise<never> | undefined;

  const force = (code: number): never => {
    life.lastResort();
    return process.exit(code);
  };
  const end = (code: number, patience = END_MS): Promise<never> => {
    ended ??= (async () => {
      const timer = setTimeout(() => {
        log.error('the end took too long; forced', { milliseconds: patience });
        force(code);
      }, patience);
      await unwind();
      clearTimeout(timer);
      return process.exit(code);
    })();
    return ended;
  };
  let toldAt: number | undefined;
  const onSignal = (signal: NodeJS.Signals) => {
    const now = performance.now();
    toldAt ??= now;
    if (ended) {
      if (now - toldAt < ONE_SIGNAL_MS) return;
      log.warn('told to stop again; forced', { signal });
      force(1);
    }
    log.info('stopping', { signal });
    void end(0);
  };
  const onDefect = (kind: string) => (err: unknown) => {
    log.error('uncaught error, shutting down', { kind, err });
    void end(1, BROKEN_END_MS);
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  process.on('uncaughtException', onDefect('uncaughtException'));
  process.on('unhandledRejection', onDefect('unhandledRejection'));
  const life: ProcessLife = {
    get ending() {
      return ended !== undefined;
    },
    end,
    fail: (line) => {
      writeSync(2, `paddock: ${line}\n`);
      return end(1);
    },
    lastResort: () => undefined,
  };
  return life;
}
