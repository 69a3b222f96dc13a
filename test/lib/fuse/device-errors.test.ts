import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { fromText } from '../../../lib/byte-string.ts';
import { ALL_WRITE } from '../workspaces/sandbox.ts';
import { WorkerFaults } from '../workspaces/worker-faults.ts';
import { bundleEntry } from './bundle-entry.ts';
import { type Mounted, mounted, shell } from './mounted.ts';

/** More attempts than the request worker makes for one message. */
const MANY = 10;

let bundle: Awaited<ReturnType<typeof bundleEntry>>;
let faults: WorkerFaults;
let mount: Mounted;
let home: string;
let path: string;
let dead = false;

beforeAll(async () => {
  bundle = await bundleEntry('../workspaces/failing-entry.ts');
  faults = WorkerFaults.inMemory();
});
afterAll(() => bundle.remove());

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'device-errors-'));
  mkdirSync(join(home, 'base'));
  upload('file', 'old');
  mount = await mounted(bundle.entry);
  dead = false;
  void mount.workspaces.exited.then(() => (dead = true));
  path = await mount.workspaces.attach({
    ...{ id: 'sb_1', codebaseId: 'cb', base: join(home, 'base'), delta: join(home, 'delta') },
    ...{ uid: 0, rules: ALL_WRITE, maxBytes: 0, maxFiles: 0 },
  });
});
afterEach(async () => {
  faults.disarm();
  await mount.remove();
  rmSync(home, { recursive: true });
});

function upload(name: string, content: string): void {
  writeFileSync(join(home, 'base', name), content);
}

describe('a failed write to the device', () => {
  it.each(['ENOMEM', 'EAGAIN'] as const)(
    'with %s in the notifier is repeated until the kernel is notified',
    async (errno) => {
      expect(await shell('cat "$1/file"; cat "$1/new" 2>&1 || :', path)).toMatch(/^old.*No such file/);
      await mount.workspaces.baseChanging('cb', ['file', 'new'].map(fromText));
      upload('file', 'newer');
      upload('new', 'here');
      faults.arm('notifier', 1, errno, 4);
      await mount.workspaces.baseChanged('cb', ['file', 'new'].map(fromText));
      expect(faults.disarm()).toBe(4);
      expect(await shell('cat "$1/file" "$1/new"', path)).toBe('newerhere');
      expect(dead).toBe(false);
      expect(mount.logged).toEqual([]);
    },
  );

  it("with another errno in the notifier ends the mount, because the kernel's caches are stale", async () => {
    await shell('cat "$1/file"', path);
    faults.arm('notifier', 1, 'EIO');
    await expect(mount.workspaces.baseChanged('cb', [fromText('file')])).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(await mount.workspaces.exited).toEqual({ reason: 'the notifier failed' });
  });

  it('with ENOMEM for an answer is repeated, and the program gets its answer', async () => {
    faults.arm('device', 1, 'ENOMEM', 3);
    expect(await shell('cat "$1/file"', path)).toBe('old');
    expect(faults.disarm()).toBe(3);
    faults.arm('device', 1, 'ENOMEM', MANY);
    await shell('cat "$1/file" || :', path);
    faults.disarm();
    expect(await shell('cat "$1/file"', path)).toBe('old');
    expect(dead).toBe(false);
  });

  it('with ENOMEM for the message that continues a long operation does not stop that operation', async () => {
    faults.arm('device', 1, 'ENOMEM', MANY);
    const slow = mount.workspaces.usage('slow');
    await expect.poll(() => faults.fired, { timeout: 30_000 }).toBeGreaterThan(0);
    // Any request lets the worker continue.
    await mount.workspaces.usage('sb_1');
    expect(await slow).toBe('slowly');
  });
});
