import { createHostKey } from '../lib/access/host-key.ts';
import type { Invocation } from '../lib/config/load.ts';

type CreateKey = Extract<Invocation, { action: 'create-key' }>;

/** Creates an admin key and writes it, alone, to stdout. Exit codes: 0: created; 1: failed. */
export function createKey({ config, name, warnings }: CreateKey): void {
  for (const warning of warnings) process.stderr.write(`paddock: ${warning}\n`);
  try {
    process.stdout.write(`${createHostKey(config.storage.dbPath, name)}\n`);
    if (config.auth.mode === 'off') {
      process.stderr.write('paddock: the key has no effect until the configuration has auth.mode: keys\n');
    }
  } catch (error) {
    process.stderr.write(`paddock: the key could not be created: ${(error as Error).message}\n`);
    process.exitCode = 1;
  }
}
