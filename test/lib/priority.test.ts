import { execFileSync } from 'node:child_process';
import { getPriority } from 'node:os';
import { expect, it } from 'vitest';
import { bundleEntry } from './fuse/bundle-entry.ts';

it('raises the threads that the engine started before with the main thread, which waits for them', async () => {
  const bundle = await bundleEntry('../priority-entry.ts');
  try {
    const { previous, main, others } = JSON.parse(execFileSync(process.execPath, [bundle.file], { encoding: 'utf8' }));
    // Null if raising is not permitted here.
    if (previous === null) return;
    expect([previous, main]).toEqual([getPriority(), Math.max(getPriority() - 7, -20)]);
    expect(others.length).toBeGreaterThan(1);
    expect([...new Set(others)]).toEqual([main]);
  } finally {
    await bundle.remove();
  }
});
