import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { fromText } from '../../../../lib/byte-string.ts';
import { ServiceError } from '../../../../lib/errors.ts';
import { HostFileReader } from '../../../../lib/host-tree/host-file.ts';
import { DirectReader } from '../../../../lib/sandboxes/files/direct-reader.ts';
import type { FileSession } from '../../../../lib/sandboxes/files/session.ts';
import type { OpenedFile } from '../../../../lib/workspaces/workspace-files.ts';

it('a read of a host file is checked only after a warning, and gives nothing that the check refuses', async () => {
  const root = mkdtempSync(join(tmpdir(), 'direct-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  writeFileSync(join(root, 'f'), 'content');
  const checks: unknown[][] = [];
  const state = { warnings: 7, refuses: false, during: () => {} };
  let lent = 0;
  const session = {
    lend: (descriptors: number) => {
      lent += descriptors;
      return () => {
        lent -= descriptors;
      };
    },
    direct: async <T>(task: () => Promise<T>) => {
      const reading = task();
      state.during();
      return reading;
    },
    get warnings() {
      return state.warnings;
    },
    call: async (...args: unknown[]) => {
      checks.push(args);
      if (state.refuses) throw new ServiceError('PERMISSION_DENIED', 'f');
      return state.warnings;
    },
  } as unknown as FileSession;
  const host = { root, path: fromText('f') };
  const file = { handle: 3, version: 'v', warnings: 7, host } as unknown as OpenedFile;
  const reader = (await DirectReader.open(session, file))!;
  const read = async () => Buffer.from(await reader.read(2, 9)).toString();
  expect([await read(), checks]).toEqual(['ntent', []]);
  // A change while it reads.
  state.during = () => {
    state.warnings = 8;
  };
  expect([await read(), checks]).toEqual(['ntent', [['check', 3, 'v']]]);
  await read();
  expect(checks).toHaveLength(1);
  state.warnings = 9;
  state.during = () => {};
  state.refuses = true;
  await expect(read()).rejects.toThrow('f');
  await expect(read()).rejects.toThrow('f');
  expect(await DirectReader.open(session, { ...file, host: { root, path: fromText('absent') } })).toBeUndefined();
  expect(lent).toBe(2);
  await reader.close();
  expect(lent).toBe(0);
  expect(await DirectReader.open({ ...session, lend: () => undefined }, file)).toBeUndefined();

  const opens = vi.spyOn(HostFileReader.prototype, 'open');
  opens.mockResolvedValueOnce({ close: () => Promise.reject(new Error('EIO')) } as never);
  const failing = (await DirectReader.open(session, file))!;
  opens.mockRestore();
  await expect(failing.close()).rejects.toThrow('EIO');
  expect(lent).toBe(0);
});
