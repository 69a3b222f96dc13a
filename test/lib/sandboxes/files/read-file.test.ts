import { expect, it } from 'vitest';
import { openFile } from '../../../../lib/sandboxes/files/read-file.ts';
import type { FileSession } from '../../../../lib/sandboxes/files/session.ts';
import type { OpenedFile } from '../../../../lib/workspaces/workspace-files.ts';

/** Calls, in their order. `written`: the flush writes pages back. */
async function opened(first: Partial<OpenedFile> | undefined, written: boolean): Promise<unknown[]> {
  const calls: unknown[] = [];
  const state = { warnings: 7 };
  const files = {
    call: async (_operation: string, _path: string, flushed: boolean) => {
      calls.push(flushed);
      return flushed ? { version: 'second' } : first;
    },
    flush: async () => {
      calls.push('flush');
      if (written) state.warnings++;
    },
    get warnings() {
      return state.warnings;
    },
  } as unknown as FileSession;
  const { version } = await openFile(files, 'f' as Parameters<typeof openFile>[1]);
  return [...calls, version];
}

it('a file is opened again only if pages of it may have been written back meanwhile', async () => {
  const small = { version: 'first', warnings: 7, mayBeMapped: true };
  expect(await opened({ version: 'first' }, true)).toEqual([false, 'first']);
  expect(await opened(small, false)).toEqual([false, 'flush', 'first']);
  expect(await opened(small, true)).toEqual([false, 'flush', true, 'second']);
  // A change between its read and the flush.
  expect(await opened({ ...small, warnings: 6 }, false)).toEqual([false, 'flush', true, 'second']);
  expect(await opened(undefined, false)).toEqual([false, 'flush', true, 'second']);
});
