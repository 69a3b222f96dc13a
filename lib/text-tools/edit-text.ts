import { isUtf8 } from 'node:buffer';
import { invalidArgument, ServiceError } from '../errors.ts';
import { hunks } from '../patch/unified.ts';
import { applied, findEach, findEdit, type Replacement } from './find-edit.ts';
import { LineEnds } from './line-ends.ts';

export interface Edit {
  oldText: string;
  newText: string;
  /** Each match; otherwise there must be one. */
  replace_all?: boolean | undefined;
}

export interface TextEdit {
  /** Of the file. */
  bytes: Uint8Array;
  /** Made one after the other. */
  edits: readonly Edit[];
  /** As the diff names it. */
  path: string;
}

export interface EditedText {
  /** The file's new contents; undefined: those that it has. */
  stored: Uint8Array | undefined;
  /** In a block of code. */
  diff: string;
}

/** Of a text after an edit. The threat: one edit may replace a million texts by a million characters each. */
const MOST_CHARACTERS = 2 * 1024 * 1024;
/** Of all edits together. */
const MOST_REPLACEMENTS = 1024 * 1024;

/** Lines that end in CRLF are compared and shown without CR, and stored with it. */
export function editText({ bytes, edits, path }: TextEdit): EditedText {
  if (!isUtf8(bytes)) throw new ServiceError('INVALID_ARGUMENT', 'the file is not UTF-8 text: edit it with exec');
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
  const before = text.replaceAll('\r\n', '\n');
  const ends = new LineEnds(text);
  let after = before;
  let replacements = 0;
  for (const { oldText, newText, replace_all = false } of edits) {
    const [wanted, by] = [oldText, newText].map((each) => each.replaceAll('\r\n', '\n')) as [string, string];
    const found = replace_all ? findEach(after, wanted, by) : [findEdit(after, wanted, by)];
    replacements += found.length;
    checkWork(after.length, found, replacements);
    ends.replace(after, found);
    after = applied(after, found);
  }
  const stored = ends.restored(after);
  return {
    stored: stored === text ? undefined : new Uint8Array(Buffer.from(stored)),
    diff: diffOf(path, before, after),
  };
}

function checkWork(length: number, found: readonly Replacement[], replacements: number): void {
  if (replacements > MOST_REPLACEMENTS) {
    throw invalidArgument('edits', `must make at most ${MOST_REPLACEMENTS} replacements together: use exec`);
  }
  const after = found.reduce((sum, { from, to, text }) => sum + text.length - (to - from), length);
  if (after <= MOST_CHARACTERS) return;
  throw invalidArgument('edits', `must leave at most ${MOST_CHARACTERS} characters in the file: use exec`);
}

function diffOf(path: string, before: string, after: string): string {
  const changed = utf8(hunks(latin(before), latin(after)));
  return fenced(`Index: ${path}\n${'='.repeat(67)}\n--- ${path}\toriginal\n+++ ${path}\tmodified\n${cut(changed)}`);
}

/** Characters of a diff. Models read far less. */
const MAX_SHOWN = 131_072;

function cut(diff: string): string {
  if (diff.length <= MAX_SHOWN) return diff;
  const half = MAX_SHOWN / 2;
  return `${diff.slice(0, half)}\n[${diff.length - MAX_SHOWN} characters of the diff left out]\n${diff.slice(-half)}`;
}

/** A block of code; its fence is longer than each run of backticks in it. */
export function fenced(diff: string): string {
  let longest = 2;
  for (const [run] of diff.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  const fence = '`'.repeat(longest + 1);
  return `${fence}diff\n${diff}${fence}\n\n`;
}

/** The differ works on one character for each byte. */
const latin = (text: string): string => Buffer.from(text).toString('latin1');
const utf8 = (text: string): string => Buffer.from(text, 'latin1').toString();
