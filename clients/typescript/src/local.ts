import type { Body } from './http/call.ts';
import type { PackOptions } from './local/pack.ts';

/**
 * The part of the package that reads and writes local directories, loaded when it is used: it needs node:fs. Browsers
 * have another module in its place (`browser` in package.json).
 */
export function loadLocal(): Promise<typeof import('./local/index.ts')> {
  return import('./local/index.ts');
}

/** What is no option of an upload. */
export function withoutPack<T extends PackOptions>({
  gitignore,
  exclude,
  gitHooks,
  ...rest
}: T): Omit<T, keyof PackOptions> {
  return rest;
}

/** An archive as it is, or of the local directory of this path. Throws at once if there is no such directory. */
export async function bodyOf(from: string | Exclude<Body, string>, options: PackOptions): Promise<Body> {
  if (typeof from !== 'string') return from;
  const { archiveOf, requireUpload } = await loadLocal();
  await requireUpload(from, options);
  return archiveOf(from, options);
}
