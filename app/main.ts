import { writeSync } from 'node:fs';
import type { Invocation } from '../lib/config/load.ts';
import { startSmall } from '../lib/start-small.ts';
import { threadScript } from './thread-script.ts';

/**
 * What a command does not need is not imported: preparing all of it takes most of the CPU time of a start. Worker threads have
 * scripts of their own.
 */
await main();

async function main(): Promise<void> {
  const invocation = await readInvocation();
  if (!invocation) return;
  if (invocation.action === 'version') writeSync(1, `paddock ${PADDOCK_VERSION}\n`);
  else if (invocation.action === 'help') writeSync(1, invocation.usage);
  else if (invocation.action === 'verify') await (await import('./verify.ts')).verify(invocation);
  else if (invocation.action === 'create-key') (await import('./create-key.ts')).createKey(invocation);
  else if (invocation.action === 'health') await (await import('./check-health.ts')).checkHealth(invocation);
  else {
    const started = startSmall();
    const { serve } = await import('./serve.ts');
    await serve(invocation, { version: PADDOCK_VERSION, entry: threadScript });
    started();
  }
}

async function readInvocation(): Promise<Invocation | undefined> {
  const [{ asksToVerify, loadConfig }, { ConfigError, UsageError }] = await Promise.all([
    import('../lib/config/load.ts'),
    import('../lib/config/read.ts'),
  ]);
  try {
    return loadConfig();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    writeSync(2, `paddock: ${error.message}\n`);
    process.exitCode = error instanceof UsageError || asksToVerify() ? 2 : 1;
    return undefined;
  }
}
