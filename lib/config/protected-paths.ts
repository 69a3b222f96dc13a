import { realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Config } from './schema.ts';

/**
 * The real paths of what the server keeps, and of its keys: nothing of these is shown to a sandbox. A path that does not
 * exist yet has the real one of its directory.
 */
export function protectedPaths({ server, storage, runtime, secrets }: Config): string[] {
  const { codebasePath, mountPath, dbPath } = storage;
  const { certificate, key, clientCa } = server.tls;
  const paths = [codebasePath, mountPath, dbPath, certificate, key, clientCa, secrets.keyFile, ...runtime.hiddenPaths];
  const given = paths.filter((path) => path !== '');
  return [...new Set([...given, ...given.map(realOf)])];
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path === '/' ? path : join(realOf(dirname(path)), basename(path));
  }
}
