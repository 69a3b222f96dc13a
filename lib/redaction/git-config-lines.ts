/** A part of a git configuration file with something that may be secret: from `start` to before `end`. */
export interface GitPart {
  kind: 'subsection' | 'value' | 'comment';
  start: number;
  end: number;
  /** Lower case. */
  section: string;
  /** '' if there is none. Of a subsection itself, too. */
  subsection: string;
  /** Lower case; '' for subsections and comments. */
  name: string;
  /** As git reads it. */
  value: string;
}

/** Parts in one step. */
const PARTS_PER_STEP = 64;

const SECTION = /\[([A-Za-z0-9.-]+)(?:[ \t]+"((?:[^"\\\n\0]|\\[^\n\0])*)")?\]/y;
const VARIABLE = /([A-Za-z][A-Za-z0-9-]*)[ \t]*/y;
const SPACE = /\s+/y;
const COMMENT = /[#;][^\n]*/y;
const ESCAPES: Readonly<Record<string, string>> = { t: '\t', n: '\n', b: '\b', '"': '"', '\\': '\\' };

/** The parts of the file, in its order and in steps; undefined: git would not read it (config.c). */
export function* gitConfigParts(text: string): Generator<undefined, GitPart[] | undefined, void> {
  const parts: GitPart[] = [];
  let [section, subsection] = ['', ''];
  let steps = 0;
  for (let at = text.startsWith('\ufeff') ? 1 : 0; at < text.length; ) {
    if (++steps % PARTS_PER_STEP === 0) yield;
    const space = matchAt(SPACE, text, at);
    if (space !== null) {
      at += space[0].length;
      continue;
    }
    const comment = matchAt(COMMENT, text, at);
    if (comment !== null) {
      parts.push(commentPart(comment[0], at));
      at += comment[0].length;
      continue;
    }
    const header = matchAt(SECTION, text, at);
    if (header !== null) {
      const [whole, name, quoted] = header;
      section = name!.toLowerCase();
      subsection = (quoted ?? '').replace(/\\(.)/gs, '$1');
      const end = at + whole.length - 2;
      if (quoted !== undefined)
        parts.push({
          kind: 'subsection',
          start: end - quoted.length,
          end,
          section,
          subsection,
          name: '',
          value: subsection,
        });
      at += whole.length;
      continue;
    }
    const variable = section === '' ? null : matchAt(VARIABLE, text, at);
    if (variable === null) return undefined;
    const value = valueAt(text, at + variable[0].length);
    if (value === undefined) return undefined;
    const name = variable[1]!.toLowerCase();
    if (value.hasValue) parts.push({ kind: 'value', ...value.part, section, subsection, name });
    at = value.next;
  }
  return parts;
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

/** What follows the mark of a comment and white space. */
function commentPart(comment: string, at: number): GitPart {
  const start = at + /^[#;\s]*/.exec(comment)![0].length;
  const end = Math.max(start, at + comment.trimEnd().length);
  return {
    kind: 'comment',
    start,
    end,
    section: '#',
    subsection: '',
    name: '',
    value: comment.slice(start - at, end - at),
  };
}

interface Value {
  /** false: the name alone, which means true. */
  hasValue: boolean;
  part: Pick<GitPart, 'start' | 'end' | 'value'>;
  /** Where the line or the comment behind the value begins. */
  next: number;
}

/** What follows the name of a variable. */
function valueAt(text: string, from: number): Value | undefined {
  const end = text.startsWith('\r\n', from) ? from + 1 : from;
  if (end >= text.length || text[end] === '\n') {
    return { hasValue: false, part: { start: from, end: from, value: '' }, next: end };
  }
  if (text[from] !== '=') return undefined;
  let at = from + 1;
  while (text[at] === ' ' || text[at] === '\t') at++;
  return readValue(text, at);
}

function readValue(text: string, start: number): Value | undefined {
  const chars: string[] = [];
  let isQuoted = false;
  // Ends of what counts, in the text and in the value: white space at the end does not.
  let [end, length] = [start, 0];
  let at = start;
  for (; at < text.length; at++) {
    const char = text[at]!;
    if (char === '\n' || (char === '\r' && text[at + 1] === '\n')) {
      if (isQuoted) return undefined;
      break;
    }
    if (!isQuoted && (char === '#' || char === ';')) break;
    if (char === '"') isQuoted = !isQuoted;
    else if (char === '\\') {
      const next = text.startsWith('\r\n', at + 1) ? '\r\n' : text[at + 1];
      const isContinued = next === '\n' || next === '\r\n';
      const meant = isContinued ? '' : ESCAPES[next ?? ''];
      if (meant === undefined) return undefined;
      chars.push(meant);
      at += next!.length;
    } else chars.push(char);
    if (isQuoted || char === '"' || !/\s/.test(char)) [end, length] = [at + 1, chars.length];
  }
  if (isQuoted) return undefined;
  return { hasValue: true, part: { start, end, value: chars.slice(0, length).join('') }, next: at };
}
