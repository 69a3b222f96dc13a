import { existsSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import { bundle, bundleCli } from '../esbuild.config.mjs';
import { offerSharedDaemon } from './docker/shared-daemon.ts';

/** Runs before the tests. The returned function runs after them. */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  await build();
  const daemon = await offerSharedDaemon();
  provide('sharedDaemonSocket', daemon.socket);
  return () => daemon.stop();
}

/** Builds the server once for the tests that start it. If the build fails, these tests fail and the others run. */
async function build(): Promise<void> {
  const main = fileURLToPath(new URL('../app/main.ts', import.meta.url));
  const built = fileURLToPath(new URL('../dist/server.mjs', import.meta.url));
  try {
    if (!existsSync(main)) throw new Error('app/main.ts is not there');
    await Promise.all([bundle(), bundleCli()]);
  } catch (error) {
    rmSync(built, { force: true });
    process.stderr.write(`dist/server.mjs could not be built: ${String(error)}\n`);
  }
}
