import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { bring } from '../../../clients/cli/src/run/bring.ts';
import type { Sandbox } from '../../../clients/typescript/src/index.ts';
import { emptyDirectory } from '../../directory.ts';

const directory = emptyDirectory();

it('goes on after a path that cannot be merged here', async () => {
  for (const name of ['a', 'b']) await writeFile(join(directory, name), 'ours\n');
  await writeFile(join(directory, 'theirs'), 'theirs\n');
  const archiveOf = (path: string) =>
    new Uint8Array(execFileSync('tar', ['-cC', directory, '--transform', `s/theirs/${path}/`, 'theirs']));
  const type = { kind: 'modified', type: 'file', baseType: 'file', renamedFrom: '', size: 1, baseSize: 1 };
  const local = { sha256: createHash('sha256').update('theirs\n').digest('hex') };
  const sandbox = {
    info: { codebaseId: 'cb_1' },
    pull: async () => ({ applied: ['c'], unchanged: [], conflicts: ['a', 'b'], skipped: [], failed: [] }),
    changes: async () => ['a', 'b'].map((path) => ({ ...type, local, path, mode: 0o644, baseMode: 0o644 })),
    api: {
      exportChanges: async ({ paths: [path] }: { paths: string[] }) => new Response(archiveOf(path!)),
      downloadFile: async ({ filePath }: { filePath: string }) => {
        // Removed here, after it was looked at.
        if (filePath === 'a') await rm(join(directory, 'a'));
        return new Response('base\n');
      },
    },
  } as unknown as Sandbox;
  const brought = await bring(sandbox, directory, {});
  expect(brought).toMatchObject({ applied: ['c'], merged: [], conflicts: ['b'], failed: [{ path: 'a' }] });
  expect(brought.failed[0]!.error.message).toBe('ENOENT: no such file or directory, open');
});
