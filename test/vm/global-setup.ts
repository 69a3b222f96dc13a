import type { TestProject } from 'vitest/node';
import { offerSharedDaemon } from '../docker/shared-daemon.ts';

/** Runs in the virtual machine before the tests. The returned function runs after them. */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const daemon = await offerSharedDaemon();
  provide('sharedDaemonSocket', daemon.socket);
  return () => daemon.stop();
}
