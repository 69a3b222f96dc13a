import { type GitPart, gitConfigParts } from './git-config-lines.ts';
import { isConstant, joinKeys, placeOf, type Span } from './span.ts';

/**
 * Sections of git itself and of its usual tools, whose values are settings: they are shown unless they look like a secret.
 * Values of other sections are hidden, since any program may keep a password in one.
 */
const SETTINGS = new Set(
  `add advice am apply attr author blame branch browser bundle checkout clean clone color column commit committer completion
  core diff difftool extensions feature fetch filter format fsck gc git-p4 gitcvs gpg grep gui help http i18n include includeif
  index init interactive lfs log mailinfo mailmap maintenance man merge mergetool notes pack pager pretty protocol promisor
  pull push rebase receive reftable remote repack rerere reset revert safe sequence showbranch sparse ssh stash status submodule
  svn-remote tag tar trace2 transfer uploadarchive uploadpack url user versionsort worktree`.split(/\s+/),
);
/** Their values are names of programs and of formats: without them git does not read the repository. */
const PROGRAMS = new Set(['core', 'extensions', 'filter']);

const SECRET_NAME = /pass|secret|token|auth(?!or)|cookie|credential|header|api-?key|private/;
const NUMBER = /^-?\d+[kmg]?$/i;
/** In a command or a header. */
const SECRET_WORD = /\b(authorization|bearer|basic|sshpass|pass|passw(or)?d|passphrase|token|secret|api[-_]?key)\b/i;
const PLAIN = /^[^"\\\n]*$/;

const URL_LIKE = /([a-z][a-z0-9+.-]*):\/\/([^\s'"]*)/gi;
/** `user:password@host:path`. */
const WITH_PASSWORD = /(^|[\s='"])[^\s/@:]+:[^\s/@]*@/;

/** What of a text is secret: nothing, a part of it, or all. */
type Secret = { from: number; to: number } | 'all' | undefined;

/** A git configuration file. Values that git needs are shown; of a URL with a user and a password these are hidden. */
export function* gitConfigValues(text: string): Generator<undefined, Span[] | undefined, void> {
  const parts = yield* gitConfigParts(text);
  if (parts === undefined) return undefined;
  const spans: Span[] = [];
  for (const part of parts) {
    yield;
    const raw = text.slice(part.start, part.end);
    const found = secretIn(part);
    if (found === undefined) continue;
    const isPart = found !== 'all' && PLAIN.test(raw);
    const [from, to] = isPart ? [found.from, found.to] : [0, raw.length];
    const value = isPart ? part.value.slice(from, to) : part.value;
    const names = [part.section, withoutUser(part.subsection), part.name];
    const where = { key: joinKeys(names.filter((name) => name !== '')), place: placeOf(names) };
    spans.push({ start: part.start + from, end: part.start + to, ...where, value, before: '', after: '' });
  }
  return spans;
}

function secretIn({ kind, section, name, value }: GitPart): Secret {
  if (value === '') return undefined;
  // A setting that was made a comment has a value all the same.
  if (kind === 'comment') return /[=:@]/.test(value) ? 'all' : undefined;
  if (kind === 'subsection') return inAddresses(value);
  if (isConstant(value)) return undefined;
  if (!PROGRAMS.has(section) && SECRET_NAME.test(name)) return 'all';
  if (NUMBER.test(value)) return undefined;
  if (section === 'credential') return name === 'helper' && /^[a-z-]{1,32}$/.test(value) ? undefined : 'all';
  if (section === 'alias') return value.startsWith('!') ? 'all' : inAddresses(value);
  if (!SETTINGS.has(section)) return 'all';
  if (/\s/.test(value) && SECRET_WORD.test(value)) return 'all';
  return inAddresses(value);
}

/** Users and passwords of addresses. The user that ssh logs in as is no secret; one of other schemes may be a token. */
function inAddresses(value: string): Secret {
  let found: Secret;
  for (const { 1: scheme = '', 2: rest = '', index } of value.matchAll(URL_LIKE)) {
    const at = rest.lastIndexOf('@');
    if (rest.includes('?') || (at !== -1 && found !== undefined)) return 'all';
    if (at === -1) continue;
    const user = rest.slice(0, at);
    if (/[/#]/.test(user)) return 'all';
    if (/^(git\+)?ssh$|^ssh\+git$/i.test(scheme) && !user.includes(':')) continue;
    const from = index + scheme.length + 3;
    found = { from, to: from + user.length };
  }
  return found ?? (WITH_PASSWORD.test(value) ? 'all' : undefined);
}

function withoutUser(subsection: string): string {
  return subsection.replace(/:\/\/.*@/s, '://');
}
