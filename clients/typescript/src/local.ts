import type { Body } from './http/call.ts';
import { requireContent } from './http/request.ts';
import type { PackOptions } from './local/pack.ts';

/**
 * The part of the package that reads and writes local directories, loaded when it is used: it needs node:fs. Browsers
 * have another module in its place (`browser` in package.json).
 */
export function loadLocal(): Promise<typeof import('./local/index.ts')> {
  return import('./local/index.ts');
}

/** Options of what a directory is packed into. */
export const PACK = { gitignore: 'boolean', exclude: 'strings', gitHooks: 'boolean' } as const;

/** An archive as it is, or of the local directory of this path. Throws at once if there is no such directory. */
export async function bodyOf(from: string | Exclude<Body, string>, options: PackOptions): Promise<Body> {
  if (typeof from !== 'string') {
    requireContent(from, 'from must be the path of a directory');
    return from;
  }
  const { archiveOf, requireUpload } = await loadLocal();
  await requireUpload(from, options);
  return archiveOf(from, options);
}
