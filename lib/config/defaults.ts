import { isAbsolute, join } from 'node:path';
import { SCHEMA } from './schema.ts';

interface Surroundings {
  env: Readonly<Record<string, string | undefined>>;
  root: boolean;
  home: string;
}

/**
 * Adds the defaults that depend on the system or on other keys: storage in the state directory; without keys, addresses
 * that only this machine reaches. Content of another shape is left to the reader, which refuses it.
 */
export function withDefaults(given: unknown, surroundings: Surroundings): unknown {
  if (!isMap(given ?? {})) return given;
  const { storage, server, auth, ...file } = (given ?? {}) as Readonly<Record<string, unknown>>;
  return {
    ...file,
    ...(auth !== undefined && { auth }),
    storage: isMap(storage ?? {}) ? { ...defaultStorage(surroundings), ...(storage as object) } : storage,
    server: isMap(server ?? {}) && !hasKeys(auth) ? { ...LOOPBACK, ...(server as object) } : server,
  };
}

const isMap = (value: unknown): boolean => typeof value === 'object' && !Array.isArray(value);

const hasKeys = (auth: unknown): boolean => (auth as { mode?: unknown } | null | undefined)?.mode === 'keys';

/** The threat: whoever reaches an address of a server without keys may do everything. */
const LOOPBACK = {
  grpc_addr: `127.0.0.1${SCHEMA.server.grpc_addr.default}`,
  http_addr: `127.0.0.1${SCHEMA.server.http_addr.default}`,
};

function defaultStorage({ env, root, home }: Surroundings): Record<string, string> {
  const state = stateDirectory(env, root, home);
  return {
    codebase_path: join(state, 'codebases'),
    mount_path: join(state, 'mounts'),
    db_path: join(state, 'metadata.json'),
  };
}

/** The directory provided by systemd; else the system's directory for root, and the XDG base directory for others. */
function stateDirectory(env: Surroundings['env'], root: boolean, home: string): string {
  const assigned = env.STATE_DIRECTORY?.split(':')[0];
  if (assigned && isAbsolute(assigned)) return assigned;
  if (root) return '/var/lib/paddock';
  const xdg = env.XDG_STATE_HOME;
  return join(xdg && isAbsolute(xdg) ? xdg : join(home, '.local/state'), 'paddock');
}
