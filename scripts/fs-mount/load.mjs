import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundle } from '../../esbuild.config.mjs';

const SILENT = { debug() {}, info() {}, warn() {} };

/**
 * Bundles the workspace file system of this checkout, as the server's build does, and loads it into this process. The
 * bundle is removed when the process exits.
 */
export async function loadFileSystem() {
  const directory = mkdtempSync(join(tmpdir(), 'paddock-fs-'));
  process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
  const file = join(directory, 'file-system.mjs');
  await bundle({ entry: 'scripts/fs-mount/file-system.ts', outfile: file });
  const { mountWorkspaces, findMount, unmount, importTree } = await import(pathToFileURL(file).href);
  const log = { ...SILENT, error: (message, fields) => process.stderr.write(`${message} ${show(fields)}\n`) };
  return {
    mount: (mountPoint) => mountWorkspaces({ mountPoint, entry: pathToFileURL(file), log }),
    findMount,
    unmount,
    importTree,
  };
}

function show(fields) {
  return JSON.stringify(fields, (_, value) => (value instanceof Error ? value.stack : value));
}
