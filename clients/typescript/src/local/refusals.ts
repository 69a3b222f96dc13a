/** Parts of a repository by which git runs programs, or finds another repository, and short names of them. */
const UNSAFE = /^(commondir|gitdir|hooks|config.*|rebase-merge|rebase-apply|sequencer|.*~\d+)$/s;
/** Below these the names are those of branches and objects. */
const NAMES = new Set(['refs', 'logs', 'objects']);

/** Characters that HFS+ leaves out of names. */
const LEFT_OUT = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

/** What a name means in some file system: without the dots at its end, or a stream of Windows. */
const meaning = (name: string): string =>
  name
    .replace(LEFT_OUT, '')
    .replace(/:.*$/s, '')
    .replace(/[. ]+$/, '')
    .toLowerCase();

/** Whether a name means `.git` in some file system; `git~1` is a short name of Windows. */
const meansGit = (name: string): boolean => /^(\.git|git~\d+)$/.test(meaning(name));

/** Why a change is never brought here. undefined: it may be. `git`: changes in `.git` may be. */
export function refusalOf(path: string, isDirectory: boolean, git: boolean): string | undefined {
  const parts = path.split('/');
  const at = parts.findIndex(meansGit);
  if (at === -1) return undefined;
  if (!git) return 'it is in .git';
  const rest = parts.slice(at + 1);
  const aliased = parts.some((part) => meansGit(part) && part !== '.git');
  if (aliased || (rest.length === 0 && !isDirectory)) return 'it could stand for a repository elsewhere';
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
  if (parts.some(meansGit)) return 'it is a symlink in .git';
  const steps = target.split('/').filter((part) => part !== '' && part !== '.');
  const up = steps.filter((part) => part === '..').length;
  const leads = `it is a symlink to ${JSON.stringify(target)}`;
  if (target.startsWith('/') || target.includes('\\') || /^[a-z]:/i.test(target) || up > parts.length - 1)
    return `${leads}, out of the directory`;
  if (steps.slice(0, up).some((part) => part !== '..')) return `${leads}, which could lead out of the directory`;
  return steps.some(meansGit) ? `${leads}, in .git` : undefined;
}
