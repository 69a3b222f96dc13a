import { quoteText } from '../../byte-string.ts';
import type { Runtime as RuntimeName } from '../../contract/messages.ts';
import { invalidArgument } from '../../errors.ts';
import type { SandboxRecord } from '../../metadata/metadata.ts';
import type { NewSandbox } from '../../services.ts';
import type { Settings } from '../context.ts';

export type Places = Pick<SandboxRecord, 'read_only_paths' | 'workspace_path'>;

/**
 * Where sandboxes have what is theirs, or what decides how they are isolated. Nothing of a request is shown at, above or
 * below these: it could hide them, or make the runtime create directories in what a command can change.
 */
const OWN = [
  ...['/bin', '/dev', '/etc', '/home/sandbox', '/lib', '/lib32', '/lib64', '/libx32', '/proc', '/run', '/sbin', '/sys'],
  ...['/usr', '/var/tmp', '/workspace'],
];
/** Of these only what is below can be shown. */
const OWN_ROOTS = ['/', '/tmp'];

/** What a new sandbox is to see beside its workspace and the system. Absent parts: nothing. Throws INVALID_ARGUMENT. */
export function placesOf(
  { read_only_paths: paths = [], workspace_path: workspace = '', image }: NewSandbox,
  runtime: RuntimeName,
  { mountablePaths, protectedPaths }: Pick<Settings, 'mountablePaths' | 'protectedPaths'>,
): Places {
  if (paths.length === 0 && workspace === '') return {};
  const first = paths.length > 0 ? 'read_only_paths' : 'workspace_path';
  if (runtime !== 'RUNTIME_BWRAP' || image !== '') {
    throw invalidArgument(first, 'is for sandboxes of the runtime bwrap without an image');
  }
  for (const [index, path] of paths.entries()) {
    const at = `read_only_paths[${index}]`;
    requireFree(at, path, [...paths.slice(0, index)]);
    if (!mountablePaths.some((each) => isAtOrBelow(path, each))) {
      const allowed = mountablePaths.length === 0 ? 'which are none' : mountablePaths.join(', ');
      throw invalidArgument(at, `must be at or below one of the server's runtime.mountable_paths, ${allowed}`);
    }
    if (protectedPaths.some((each) => isAtOrBelow(path, each) || isAtOrBelow(each, path) || isBeside(path, each))) {
      throw invalidArgument(
        at,
        `${quoteText(path)} would show state or keys of the server, or is in runtime.hidden_paths`,
      );
    }
  }
  if (workspace !== '') requireFree('workspace_path', workspace, paths);
  return {
    ...(paths.length > 0 && { read_only_paths: [...paths] }),
    ...(workspace !== '' && { workspace_path: workspace }),
  };
}

/** Bytes of a name, of every file system. */
const MAX_NAME = 255;

function requireFree(at: string, path: string, others: readonly string[]): void {
  if (path.split('/').some((name) => Buffer.byteLength(name) > MAX_NAME)) {
    throw invalidArgument(at, `must have names of at most ${MAX_NAME} bytes`);
  }
  const taken = [...OWN, ...others].find((own) => isAtOrBelow(path, own) || isAtOrBelow(own, path));
  const own = taken ?? OWN_ROOTS.find((each) => each === path);
  if (own !== undefined) throw invalidArgument(at, `${quoteText(path)} would be in the way of ${own}`);
}

/** Files of the database have its name with an ending. */
const isBeside = (path: string, own: string): boolean => path.startsWith(`${own}.`);

const isAtOrBelow = (path: string, above: string): boolean =>
  path === above || path.startsWith(above === '/' ? above : `${above}/`);
