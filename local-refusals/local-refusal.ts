import { aliasRefusal, linkRefusal, refusalOf } from './names.ts';
import { runsOnSight } from './programs.ts';

/** Something that comes from a sandbox, from the root of the local directory. */
export interface Incoming {
  path: string;
  type: 'file' | 'directory' | 'symlink';
  /** Target of a symlink. */
  target?: string | undefined;
  /** It is removed. */
  isRemoved?: boolean | undefined;
  /** Of a file there it has placeholders instead of values, or nothing. */
  losesValues?: boolean | undefined;
}

/** Why something is not brought to a local directory. Never, unless `allow` or `git` says what it takes. */
export interface LocalRefusal {
  reason: string;
  /** The path that must be allowed for it; empty: none. */
  allow: string;
  /** Changes in `.git` must be asked for. */
  git: boolean;
}

const LOSS = 'values that are here, of which the sandbox saw placeholders only, would be lost';

/**
 * What a sandbox must not bring to a local directory, by its name, type and target. The threat: programs that are run
 * there find it, and run what it names: git in any repository, editors and shells what has the right name.
 */
export function localRefusal({
  path,
  type,
  target,
  isRemoved = false,
  losesValues = false,
}: Incoming): LocalRefusal | undefined {
  const isDirectory = type === 'directory';
  const reason =
    refusalOf(path, isDirectory, true) ??
    (isRemoved ? undefined : aliasRefusal(path)) ??
    (type === 'symlink' && target !== undefined && !isRemoved ? linkRefusal(path, target) : undefined);
  if (reason !== undefined) return { reason, allow: '', git: false };
  const inGit = refusalOf(path, isDirectory, false);
  const program = isRemoved ? undefined : runsOnSight(path);
  const allowed = losesValues ? LOSS : program && `${program.tool} would run it on sight`;
  const why = inGit ?? allowed;
  if (why === undefined) return undefined;
  return { reason: why, allow: losesValues ? path : (program?.path ?? ''), git: inGit !== undefined };
}
