import { setTimeout as delay } from 'node:timers/promises';
import { CliError } from '../command-line/errors.ts';
import { readLocal, removeLocal, startTimeOf } from './record.ts';

const END_MS = 20_000;

/** Ends the local server. False: none runs. */
export async function stopLocal(directory: string, signal: AbortSignal): Promise<boolean> {
  const server = readLocal(directory);
  if (!server) return false;
  process.kill(server.pid, 'SIGTERM');
  for (const end = performance.now() + END_MS; startTimeOf(server.pid) === server.startedAt; await delay(25)) {
    signal.throwIfAborted();
    if (performance.now() > end) throw new CliError(`the local server did not end within ${END_MS / 1000} s`);
  }
  removeLocal(directory);
  return true;
}
