import { readdirSync } from 'node:fs';
import { parse } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import { build } from 'esbuild';
import { ascii } from './ascii.mjs';

/** Higher ones take ten times as long and save 5 %. */
const QUALITY = 9;

/**
 * Bundles each module of this directory into a script of its own. Returns them by role, as base64 compressed with brotli;
 * app/thread-script.ts unpacks them.
 *
 * @param {import('esbuild').BuildOptions} options those of the server's bundle
 * @returns {Promise<Record<string, string>>}
 */
export async function packThreads({ target, define = {} }) {
  const roles = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.ts'));
  const packed = roles.map(async (name) => {
    const result = await build({
      entryPoints: [`${import.meta.dirname}/${name}`],
      write: false,
      bundle: true,
      platform: 'node',
      format: 'iife',
      ...(target && { target }),
      minifySyntax: true,
      legalComments: 'none',
      logLevel: 'warning',
      define,
    });
    const script = ascii(result.outputFiles[0].contents);
    const params = { [constants.BROTLI_PARAM_QUALITY]: QUALITY, [constants.BROTLI_PARAM_SIZE_HINT]: script.length };
    return [parse(name).name, brotliCompressSync(script, { params }).toString('base64')];
  });
  return Object.fromEntries(await Promise.all(packed));
}
