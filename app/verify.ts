import type { Invocation } from '../lib/config/load.ts';
import { verifyState } from '../lib/verify/verify-state.ts';

type Verify = Extract<Invocation, { action: 'verify' }>;

/** Checks the stored state. Exit codes: 0: no damage; 1: damage found; 2: the check failed. */
export async function verify({ config, warnings }: Verify): Promise<void> {
  process.stdout.on('error', () => undefined); // The reader may exit first; the exit code still has the result.
  for (const warning of warnings) process.stderr.write(`paddock: ${warning}\n`);
  try {
    const report = await verifyState(config.storage);
    for (const line of report.lines()) process.stdout.write(`${line}\n`);
    process.exitCode = report.damaged > 0 ? 1 : 0;
  } catch (error) {
    process.stderr.write(`paddock: ${(error as Error).message.replace(/\s*\n\s*/g, ' ')}\n`);
    process.exitCode = 2;
  }
}
