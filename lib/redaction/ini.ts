import { looksSecret } from './secret-words.ts';
import { isConstant, joinKeys, placeOf, type Span } from './span.ts';

/** Lines in one step. */
const LINES_PER_STEP = 64;

const SECTION = /^\s*\[([^\]\n]*)\]\s*$/;
const COMMENT = /^(\s*)[#;]+\s*/;
/** `=` first: names of npm have colons, like `//registry.example.org/:_authToken`. */
const ASSIGNMENTS = [/^(\s*([^\s=][^=\n]*?)\s*=[^\S\n]*)(.*)$/s, /^(\s*([^\s:][^:\n]*?)\s*:[^\S\n]+)(.*)$/s];
/** A setting that is on without a value. */
const SWITCH = /^\s*[a-z][a-z-]{0,63}\s*$/;

const SECRET_NAME =
  /pass|pwd|secret|token|auth(?!or|ority|-type)|cred|cookie|session|private|otp|key(?!file|s$|word|board)/i;
/** A variable of the environment. */
const REFERENCE = /^\$\{?[A-Za-z_][A-Za-z0-9_]*[?-]?\}?$/;
const WITH_PASSWORD = /:\/\/[^/\s]*@/;

/**
 * Settings in lines of `name = value` or `name: value`, with sections. Hidden are values of names that are those of
 * secrets, and values that look like one. A line behind an indent belongs to the value before.
 */
export function* iniValues(text: string): Generator<undefined, Span[] | undefined, void> {
  const spans: Span[] = [];
  let section = '';
  let [lines, isHidden] = [0, false];
  for (let at = 0; at < text.length; ) {
    if (++lines % LINES_PER_STEP === 0) yield;
    const newline = text.indexOf('\n', at);
    const end = newline === -1 ? text.length : newline;
    const line = text.slice(at, end).replace(/\r$/, '');
    const start = at;
    at = end + 1;
    if (line.trim() === '') continue;
    const header = SECTION.exec(line);
    if (header !== null) {
      section = header[1]!;
      isHidden = false;
      continue;
    }
    const indent = COMMENT.exec(line)?.[0].length ?? 0;
    const last = spans.at(-1);
    if (indent === 0 && /^\s/.test(line) && isHidden && last !== undefined) {
      last.end = start + line.length;
      last.value = text.slice(last.start, last.end);
      continue;
    }
    const found = assignmentIn(line.slice(indent));
    // In a comment anything can be a sentence, whose words are looked at by themselves.
    if (found === undefined && indent > 0) continue;
    isHidden = found === undefined ? !SWITCH.test(line) : isSecret(found);
    if (!isHidden) continue;
    const from = start + indent + (found?.head ?? line.search(/\S/));
    const names = [section, found?.name ?? ''];
    const value = text.slice(from, start + line.length);
    spans.push({ start: from, end: start + line.length, ...keysOf(names), value, before: '', after: '' });
    if (indent > 0) isHidden = false;
  }
  return spans;
}

interface Assignment {
  name: string;
  value: string;
  /** Characters before the value. */
  head: number;
}

function assignmentIn(line: string): Assignment | undefined {
  for (const pattern of ASSIGNMENTS) {
    const [, head, name, value] = pattern.exec(line) ?? [];
    if (head !== undefined && name !== undefined && value !== undefined) return { name, value, head: head.length };
  }
  return undefined;
}

function isSecret({ name, value }: Assignment): boolean {
  const plain = value.trim().replace(/^(["'])(.*)\1$/, '$2');
  if (isConstant(plain) || REFERENCE.test(plain)) return false;
  return SECRET_NAME.test(name) || looksSecret(plain) || WITH_PASSWORD.test(plain);
}

const keysOf = (names: string[]) => ({ key: joinKeys(names.filter((name) => name !== '')), place: placeOf(names) });
