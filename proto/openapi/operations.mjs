import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Below node_modules, where the bundle finds the packages that it imports. */
const CACHE = join(ROOT, 'node_modules/.cache');

const ENTRY = `export { operations } from './handlers/index.ts';
export { CODES } from './lib/errors.ts';
`;

/**
 * Loads the table of operations, with the constraints of its handlers, and the error codes. They are TypeScript, which
 * Node 20 does not load.
 *
 * @returns {Promise<{ operations: any[], CODES: Record<string, { grpc: number, http: number }> }>}
 */
export const loadOperations = () => loadSources(ENTRY, 'operations');

/**
 * What a module exports that imports from TypeScript.
 *
 * @param {string} contents
 * @param {string} name of it, for its file
 * @returns {Promise<any>}
 */
export async function loadSources(contents, name) {
  mkdirSync(CACHE, { recursive: true });
  const outfile = join(CACHE, `${name}-${process.pid}.mjs`);
  try {
    await build({
      absWorkingDir: ROOT,
      stdin: { contents, resolveDir: ROOT },
      outfile,
      bundle: true,
      platform: 'node',
      format: 'esm',
      packages: 'external',
      logLevel: 'warning',
    });
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(outfile, { force: true });
  }
}
