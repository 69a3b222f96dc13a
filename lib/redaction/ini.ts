import { looksSecret, namesSecret } from './secret-words.ts';
import { isConstant, joinKeys, placeOf, type Span } from './span.ts';

/** Lines in one step. */
const LINES_PER_STEP = 64;

const SECTION = /^\s*\[([^\]\n]*)\]\s*$/;
const COMMENT = /^(\s*)[#;]+\s*/;
/** `=` first: names of npm have colons, like `//registry.example.org/:_authToken`. */
const ASSIGNMENTS = [/^(\s*([^\s=][^=\n]*?)\s*=[^\S\n]*)(.*)$/s, /^(\s*([^\s:][^:\n]*?)\s*:(?:[^\S\n]+|$))(.*)$/s];
/** A setting that is on without a value. */
const SWITCH = /^\s*[a-z][a-z-]{0,63}\s*$/;

/** A variable of the environment. */
const REFERENCE = /^\$\{?[A-Za-z_][A-Za-z0-9_]*:?[?-]?\}?$/;
const WITH_PASSWORD = /:\/\/[^/\s]*@/;

/**
 * Settings in lines of `name = value` or `name: value`, with sections. Hidden are values of names that are those of
 * secrets, and values that look like one. A line with a larger indent belongs to the value before.
 */
export function* iniValues(text: string): Generator<undefined, Span[] | undefined, void> {
  const spans: Span[] = [];
  let section = '';
  let lines = 0;
  // Of the assignment whose next lines are hidden, too: its names, and its value if that is hidden.
  let hidden: { names: string[]; depth: number; span?: Span } | undefined;
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
      hidden = undefined;
      continue;
    }
    const indent = COMMENT.exec(line)?.[0].length ?? 0;
    const depth = line.search(/\S/);
    if (indent === 0 && hidden !== undefined && depth > hidden.depth) {
      const from = hidden.span?.start ?? start + depth;
      if (hidden.span !== undefined) spans.pop();
      hidden.span = spanOf(text, from, start + line.length, hidden.names);
      spans.push(hidden.span);
      continue;
    }
    const found = assignmentIn(line.slice(indent));
    // In a comment anything can be a sentence, whose words are looked at by themselves.
    if (found === undefined && indent > 0) continue;
    const names = [section, found?.name ?? ''];
    const isHidden = found === undefined ? !SWITCH.test(line) : isSecret(found);
    const goesOn = isHidden || (found !== undefined && namesSecret(found.name));
    hidden = goesOn && indent === 0 ? { names, depth } : undefined;
    if (!isHidden) continue;
    const from = start + indent + (found?.head ?? depth);
    const span = spanOf(text, from, start + line.length, names);
    if (hidden !== undefined) hidden.span = span;
    spans.push(span);
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
  return namesSecret(name) || looksSecret(plain) || WITH_PASSWORD.test(plain);
}

function spanOf(text: string, start: number, end: number, names: string[]): Span {
  const keys = { key: joinKeys(names.filter((name) => name !== '')), place: placeOf(names) };
  return { start, end, ...keys, value: text.slice(start, end), before: '', after: '' };
}
