import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

/** Bundles a module of this directory, because worker threads have no TypeScript loader. */
export async function bundleEntry(name: string): Promise<{ entry: URL; file: string; remove(): Promise<void> }> {
  const directory = await mkdtemp(join(tmpdir(), 'fuse-entry-'));
  const file = join(directory, 'entry.mjs');
  await build({
    entryPoints: [join(import.meta.dirname, name)],
    outfile: file,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    logLevel: 'error',
  });
  return { entry: pathToFileURL(file), file, remove: () => rm(directory, { recursive: true }) };
}
