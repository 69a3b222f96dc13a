import { once } from 'node:events';
import { beforeAll, expect, test, vi } from 'vitest';
import { threadScript } from '../../app/thread-script.ts';
import { packThreads } from '../../app/threads/pack.mjs';
import { startThread } from '../../lib/threads/thread-entry.ts';

let packed: Record<string, string>;

beforeAll(async () => {
  packed = await packThreads({ target: 'node20.19' });
  vi.stubGlobal('PADDOCK_THREADS', packed);
  return () => vi.unstubAllGlobals();
});

test('A thread runs the script of its role', async () => {
  const thread = startThread(threadScript, { role: 'commit' });
  try {
    thread.postMessage({ method: 'close', args: [] });
    expect(await once(thread, 'message')).toEqual([{ value: undefined }]);
  } finally {
    await thread.terminate();
  }
});

test('An error of a thread names its script', async () => {
  const thread = startThread(threadScript, { role: 'network' });
  const [error] = await once(thread, 'error');
  expect((error as Error).stack).toContain('paddock-network.js');
});

test('There is a script for each role that is started, and for no other one', () => {
  const roles = [
    'commit',
    'fuse',
    'fuse-notifier',
    'fuse-sync',
    'network',
    'text-tools',
    'tree-export',
    'tree-import',
    'tree-stores',
    'unzstd',
  ];
  expect(Object.keys(packed).sort()).toEqual(roles);
  expect(() => threadScript('other')).toThrow('no thread for other');
});

test('A thread has nothing that it does not run', () => {
  // Base64 of compressed text. The whole server has 1.5 MB.
  const most = { fuse: 300_000, network: 80_000, 'text-tools': 30_000, 'tree-stores': 80_000 };
  for (const [role, script] of Object.entries(packed)) {
    expect(script.length, role).toBeLessThan(most[role as keyof typeof most] ?? 20_000);
  }
});
