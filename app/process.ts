import { writeSync } from 'node:fs';
import type { Log } from '../lib/log.ts';

/** Milliseconds for the whole shutdown. Supervisors usually wait ten seconds. */
const END_MS = 8500;
/** Milliseconds for a shutdown after a defect, when no part of the process can be relied on. */
const BROKEN_END_MS = 4000;

/**
 * Milliseconds within which repeated signals count as one: Ctrl-C reaches a whole process group, and a wrapper such as
 * npm forwards it.
 */
const ONE_SIGNAL_MS = 500;

export interface ProcessLife {
  /** Whether the shutdown has begun. */
  readonly ending: boolean;
  /** Shuts down and exits with `code`. */
  end(code: number): Promise<never>;
  /** For a failed start: writes one line to stderr and exits. */
  fail(line: string): Promise<never>;
  /** Synchronously releases resources that would outlive the process or prevent its exit. */
  lastResort: () => void;
}

/**
 * Handles signals and uncaught errors. The first SIGTERM or SIGINT starts a shutdown with exit code 0, also during the
 * start; a second one exits at once. An uncaught error exits with code 1 after an attempted shutdown.
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
        log.error('shutdown took too long, exiting now', { milliseconds: patience });
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
      log.warn('second stop signal, exiting now', { signal });
      force(1);
    }
    log.info('shutting down', { signal });
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
