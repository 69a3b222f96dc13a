import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { ascii } from './app/threads/ascii.mjs';
import { packThreads } from './app/threads/pack.mjs';
import { dockerClientPlugin } from './lib/runtime/docker/bundle-client.mjs';
import { protoPlugin } from './proto/compile.mjs';
import { packDocuments } from './proto/openapi/pack.mjs';

const { version } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));
const VERSION = { PADDOCK_VERSION: JSON.stringify(version) };

/**
 * Bundles `entry` with its dependencies into one executable file and returns its path. The file is replaced atomically,
 * because a server may be starting from the old one.
 *
 * @param {{ entry?: string, outfile?: string, plugins?: import('esbuild').Plugin[] }} [options]
 */
export async function bundle({ entry = 'app/main.ts', outfile = 'dist/server.mjs', plugins = [] } = {}) {
  const target = 'node20.19';
  const threads = await packThreads({ target, define: VERSION });
  const result = await build({
    absWorkingDir: fileURLToPath(new URL('.', import.meta.url)),
    entryPoints: [entry],
    outfile,
    write: false,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target,
    minifySyntax: true,
    legalComments: 'eof',
    logLevel: 'warning',
    define: {
      ...VERSION,
      PADDOCK_DOCUMENTS: JSON.stringify(packDocuments()),
      PADDOCK_THREADS: JSON.stringify(threads),
    },
    plugins: [protoPlugin, dockerClientPlugin, ...plugins],
    // The validator of answers to questions, which the server's tools never ask: 265 kB.
    alias: { '@modelcontextprotocol/server/_shims': './adapters/mcp/no-questions.ts' },
    // Bundled CommonJS packages call require() for Node's own modules; an ES module has no require().
    banner: {
      js: "#!/usr/bin/env node\nimport { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);",
    },
  });
  const [{ path, contents }] = result.outputFiles;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(`${path}.${process.pid}`, ascii(contents), { mode: 0o755 });
  renameSync(`${path}.${process.pid}`, path);
  return path;
}

/**
 * Loads Node's modules when the command that imports them is loaded: an import statement of the bundle would load them at
 * every start.
 *
 * @type {import('esbuild').Plugin}
 */
const lazyBuiltins = {
  name: 'lazy-builtins',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:/ }, ({ path, namespace }) =>
      namespace === 'lazy-builtin' ? { path, external: true } : { path, namespace: 'lazy-builtin' },
    );
    onLoad({ filter: /.*/, namespace: 'lazy-builtin' }, ({ path }) => ({
      contents: `module.exports = require(${JSON.stringify(path)});`,
    }));
  },
};

/** Bundles the command line, which runs the server beside it. */
export const bundleCli = () =>
  bundle({ entry: 'clients/cli/src/main.ts', outfile: 'dist/paddock.mjs', plugins: [lazyBuiltins] });

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await Promise.all([bundle(), bundleCli()]);
