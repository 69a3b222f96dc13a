import { LAYOUTS, REPOSITORIES } from './table.ts';

/** Parts of a repository by which git runs programs, or finds another repository, and short names of them. */
const UNSAFE = /^(commondir|gitdir|(http-)?alternates|hooks|config.*|rebase-merge|rebase-apply|sequencer|.*~\d+)$/s;
/** Below these the names are those of branches. */
const NAMES = new Set(['refs', 'logs']);

/** Characters that some file system leaves out of names: HFS+ some of them, ext4 and F2FS with casefold all. */
const LEFT_OUT = /\p{Default_Ignorable_Code_Point}|[\u206a-\u206f\ufeff]/gu;

/** As APFS and casefold compare names: the long s is an s, and ligatures are their letters. */
const folded = (name: string): string => name.toUpperCase().toLowerCase();

/** What a name means in some file system: without the dots at its end, or a stream of Windows. */
export function meaning(name: string): string {
  const [kept = ''] = name.replace(LEFT_OUT, '').split(':');
  let end = kept.length;
  while (kept[end - 1] === '.' || kept[end - 1] === ' ') end--;
  return folded(kept.slice(0, end));
}

const SHORT = new Map(REPOSITORIES.map((name) => [name.replace(/^\./, '').slice(0, 6), name]));

/** The repository that a name means in some file system; `git~1` is a short name of Windows. */
export function repositoryOf(name: string): string | undefined {
  const meant = meaning(name);
  return REPOSITORIES.includes(meant) ? meant : SHORT.get(/^(.*)~\d+$/s.exec(meant)?.[1] ?? '');
}

/** Files of clients that are not yet in their place; a pull removes old ones. */
const TEMPORARY = /^\.paddock-[0-9a-f]{16}\.tmp$/;

const PIECES = new Set(LAYOUTS.flat());

/** A name that only some file system takes for a part of a repository: clients compare the others with what they have. */
export function aliasRefusal(path: string): string | undefined {
  const alias = path.split('/').find((name) => PIECES.has(meaning(name)) && meaning(name) !== name.toLowerCase());
  return alias === undefined ? undefined : `it has another name for ${meaning(alias)}, a part of repositories`;
}

/** Why a change is never brought here. undefined: it may be. `git`: changes in `.git` may be. */
export function refusalOf(path: string, isDirectory: boolean, git: boolean): string | undefined {
  const parts = path.split('/');
  if (parts.some((part) => TEMPORARY.test(meaning(part)))) return 'it has the name of a temporary file of Paddock';
  const at = parts.findIndex((part) => repositoryOf(part) !== undefined);
  if (at === -1) return undefined;
  const other = parts.map(repositoryOf).find((name) => name !== undefined && name !== '.git');
  if (other !== undefined) return `it is in ${other}`;
  if (!git) return 'it is in .git';
  const rest = parts.slice(at + 1);
  const aliased = parts.some((part) => repositoryOf(part) !== undefined && part !== '.git');
  if (aliased || (rest.length === 0 && !isDirectory)) return 'it could redirect git to another repository';
  if (!NAMES.has(rest[0] ?? '') && rest.some((part) => UNSAFE.test(meaning(part))))
    return 'git could run a program by it';
  return undefined;
}

/**
 * Why a symlink is never brought here: programs that are run here would follow it. A `..` after another part is not
 * resolved, because that part may be a symlink itself.
 */
export function linkRefusal(path: string, target: string): string | undefined {
  const parts = path.split('/');
  const within = parts.map(repositoryOf).find((name) => name !== undefined);
  if (within !== undefined) return `it is a symlink in ${within}`;
  const steps = target.split('/').filter((part) => part !== '' && part !== '.');
  const up = steps.filter((part) => part === '..').length;
  const leads = `it is a symlink to ${JSON.stringify(target)}`;
  // Its bytes are not known where it would be made.
  if (target.includes('\ufffd')) return `${leads}, which is not UTF-8`;
  if (target.startsWith('/') || target.includes('\\') || /^[a-z]:/i.test(target) || up > parts.length - 1)
    return `${leads}, out of the directory`;
  if (steps.slice(0, up).some((part) => part !== '..')) return `${leads}, which could lead out of the directory`;
  const into = steps.map(repositoryOf).find((name) => name !== undefined);
  return into === undefined ? undefined : `${leads}, in ${into}`;
}
