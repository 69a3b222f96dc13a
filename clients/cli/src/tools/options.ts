import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import type { CreateOptions, Paddock } from 'paddock-sandbox';
import type { Context, Options } from '../command-line/command.ts';
import { UsageError } from '../command-line/errors.ts';
import { localDirectory, readLocal } from '../local/record.ts';
import { findTools, isInTheWay, outermost, type Workspace } from './find.ts';

export const TOOLS_OPTION = {
  tools: {
    multiple: true,
    value: 'auto|none|PATH',
    help: 'tools of this machine that are seen, read-only: those in PATH, none, or this path',
  },
} as const satisfies Options;

/** What is asked of a server that may not give it. */
export type Wishes = Pick<CreateOptions, 'readOnlyPaths' | 'workspacePath' | 'env'>;

interface Wish {
  /** Of --tools; undefined: `byDefault`. */
  tools: readonly string[] | undefined;
  byDefault: 'auto' | 'none';
  from: string | undefined;
}

/**
 * Tools of this machine, if the server is that of this command line here, and the directory's own path. `wanted`: what was
 * asked for by name, and is refused if the server does not permit it.
 */
export function wishesOf(
  { out, env }: Pick<Context, 'out' | 'env'>,
  paddock: Paddock,
  options: CreateOptions,
  { tools = [], byDefault, from }: Wish,
): { wanted: Wishes; wishes: Wishes } {
  const named = tools.filter((each) => each !== 'auto' && each !== 'none').map(pathOf);
  if (tools.includes('none') && tools.length > 1)
    throw new UsageError('--tools none and other values exclude each other');
  const wanted = named.length > 0 ? { readOnlyPaths: outermost(named) } : {};
  if (hasOwnTools(options)) return { wanted, wishes: {} };
  const asked = from === undefined ? undefined : resolve(from);
  const workspacePath = asked === undefined || isInTheWay(asked) ? {} : { workspacePath: asked };
  const isAuto = tools.includes('auto') || (tools.length === 0 && byDefault === 'auto');
  if (!isAuto || !isLocal(paddock, env)) return { wanted, wishes: workspacePath };
  const found = findTools(env, from === undefined ? {} : { workspace: workspaceOf(from) });
  const readOnlyPaths = outermost([...found.mounts, ...named]);
  if (found.mounts.length > 0) {
    out.note(`paddock: tools of this machine, read-only: ${found.mounts.join(', ')} (--tools none: without them)`);
  }
  return {
    wanted,
    wishes: { ...workspacePath, readOnlyPaths, env: { PATH: found.path, ...found.env, ...options.env } },
  };
}

/** An image and a container have tools of their own. */
const hasOwnTools = ({ image, runtime }: CreateOptions): boolean => (image ?? '') !== '' || runtime === 'docker';

/** Whether a sandbox can have programs of this machine. */
export const takesToolsOf = (paddock: Paddock, options: CreateOptions, env: Context['env']): boolean =>
  !hasOwnTools(options) && isLocal(paddock, env);

/** PATH has the directory by whatever name: its own paths are compared, and it is never shown as tools. */
export function workspaceOf(from: string): Workspace {
  const asked = resolve(from);
  return { real: realPath(asked), shown: isInTheWay(asked) ? '/workspace' : asked };
}

function pathOf(given: string): string {
  try {
    return realpathSync(given);
  } catch {
    throw new UsageError(`--tools: there is no ${JSON.stringify(given)}`);
  }
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    throw new UsageError(`--from: there is no ${JSON.stringify(path)}`);
  }
}

export const isLocal = (paddock: Paddock, env: Context['env']): boolean =>
  readLocal(localDirectory(env))?.url === paddock.api.settings.url;
