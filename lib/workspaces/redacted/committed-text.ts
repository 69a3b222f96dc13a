import { type ByteString, baseNameOf } from '../../byte-string.ts';
import type { Steps } from '../../fuse/connection/steps.ts';
import { S_IFMT, S_IFREG } from '../../linux/mode.ts';
import { isRedactedLevel, MERGED, type RuleState } from '../../permissions/index.ts';
import { isForm } from '../../redaction/is-form.ts';
import { ANY_PLACEHOLDER } from '../../redaction/placeholders.ts';
import { type Origin, puttingBack } from '../../redaction/put-back.ts';
import {
  type FoundValues,
  findingValues,
  MAX_REDACTED_BYTES,
  piecesOf,
  redacting,
} from '../../redaction/redacted-form.ts';
import type { BaseStat } from '../base/base.ts';
import { identityOf } from '../delta/index/base-versions.ts';
import type { Inode } from '../delta/index/inode.ts';
import { baseSource, inodeSource } from '../history/same-as-base.ts';
import type { Source } from '../history/same-contents.ts';
import type { LayeredWorkspace } from '../layered-workspace.ts';
import { allPlaceholders, keysOf } from './placeholder-keys.ts';
import { type FormKind, kindAt } from './redacted-file.ts';

/** Texts kept for each workspace, and their largest size in bytes: a commit asks for the same ones several times. */
const KEPT = 8;
const MAX_KEPT = 64 * 1024;
const VALUES_PER_STEP = 1024;

/** What a commit stores of a file, in place of the file itself. */
export interface CommittedText {
  bytes: Buffer;
  /** The file is as the agent was shown that of the codebase. */
  unchanged: boolean;
  /** Values of the base file, which the agent was not shown, are not among its own; or placeholders are in their place. */
  losesValues: boolean;
}

interface Kept {
  version: string;
  text: CommittedText;
}

const TEXTS = new WeakMap<LayeredWorkspace, Map<ByteString, Kept>>();

/**
 * What a commit stores of a file of the delta in place of the base file at the same path (`was`), in steps; undefined: the
 * file itself. `rule`: of the path. Throws Damage and host errors.
 */
export function* committedText(
  workspace: LayeredWorkspace,
  path: ByteString,
  rule: RuleState,
  inode: Inode,
  was: BaseStat,
): Steps<CommittedText | undefined, undefined> {
  if (rule.level !== MERGED && !(isRedactedLevel(rule.level) && inode.isAgentText)) return undefined;
  if ((inode.mode & S_IFMT) !== S_IFREG || (was.mode & S_IFMT) !== S_IFREG) return undefined;
  if (inode.size > MAX_REDACTED_BYTES || was.size > MAX_REDACTED_BYTES) return undefined;
  const { redactor, bound } = kindAt(rule, baseNameOf(path));
  const version = [redactor, bound, inode.id, inode.writes, inode.size, ...identityOf(was)].join(' ');
  const texts = TEXTS.get(workspace) ?? new Map<ByteString, Kept>();
  TEXTS.set(workspace, texts);
  const known = texts.get(path);
  if (known?.version === version) return known.text;
  const written = wholeOf(inodeSource(workspace, inode), inode.size);
  const base = wholeOf(baseSource(workspace, path, was), was.size);
  yield;
  const origin = originOf(workspace, base, { redactor, bound });
  const { placeholders } = origin;
  const bytes = yield* puttingBack(written, origin);
  const text = { bytes, unchanged: false, losesValues: keepsPlaceholders(bytes, base) };
  const found = yield* findingValues(base, redactor);
  for (const each of found === undefined ? [] : placeholders) {
    const shown = (yield* piecesOf(found!, each)).map((piece) => piece.shown).join('');
    if (Buffer.from(shown, 'utf8').equals(written)) text.unchanged = true;
  }
  if (!text.losesValues && !bytes.equals(base)) text.losesValues = yield* lacksValues(found, bytes, redactor);
  texts.delete(path);
  if (bytes.length <= MAX_KEPT) texts.set(path, { version, text });
  for (const oldest of texts.keys()) if (texts.size > KEPT) texts.delete(oldest);
  return text;
}

/** Whether values of the base file are not among those of the text. Nothing is shown of a base whose values are not `found`. */
function* lacksValues(
  found: FoundValues | undefined,
  bytes: Buffer,
  redactor: FormKind['redactor'],
): Generator<undefined, boolean, void> {
  const kept = found && (yield* findingValues(bytes, redactor));
  if (found === undefined || kept === undefined) return found?.spans.length !== 0;
  const values = new Set<string>();
  for (const [index, { value }] of kept.spans.entries()) {
    values.add(value);
    if (index % VALUES_PER_STEP === 0) yield;
  }
  for (const [index, { value }] of found.spans.entries()) {
    if (!values.has(value)) return true;
    if (index % VALUES_PER_STEP === 0) yield;
  }
  return false;
}

function keepsPlaceholders(bytes: Buffer, base: Buffer): boolean {
  const had = new Set(base.toString('latin1').match(ANY_PLACEHOLDER));
  return (
    bytes
      .toString('latin1')
      .match(ANY_PLACEHOLDER)
      ?.some((each) => !had.has(each)) ?? false
  );
}

/**
 * Whether the base has what a commit made of a text, which a crash cut off, in steps. The values of lists may have other
 * places since, and with them other placeholders.
 */
export function* isCommittedText(
  workspace: LayeredWorkspace,
  path: ByteString,
  rule: RuleState,
  inode: Inode,
  base: BaseStat,
): Steps<boolean, undefined> {
  if ((base.mode & S_IFMT) !== S_IFREG || inode.size > MAX_REDACTED_BYTES || base.size > MAX_REDACTED_BYTES)
    return false;
  const written = wholeOf(inodeSource(workspace, inode), inode.size);
  const contents = wholeOf(baseSource(workspace, path, base), base.size);
  return yield* isForm(written, originOf(workspace, contents, kindAt(rule, baseNameOf(path))));
}

function originOf(workspace: LayeredWorkspace, base: Buffer, { redactor, bound }: FormKind): Origin {
  // Under another rule before, the agent may have been shown the other ones.
  const placeholders = [...allPlaceholders(workspace)].flatMap((each) =>
    bound ? [each.bound, each] : [each, each.bound],
  );
  return { base, redactor, placeholders };
}

/** What the agent is shown of a file of the delta, or of the base, at a path under a redacting rule, in steps. */
export function* shownText(
  workspace: LayeredWorkspace,
  path: ByteString,
  rule: RuleState,
  file: Inode | { base: BaseStat },
): Steps<Buffer | undefined> {
  const stat = 'base' in file ? file.base : file;
  if ((stat.mode & S_IFMT) !== S_IFREG) return undefined;
  const { redactor, bound } = kindAt(rule, baseNameOf(path));
  const { own } = keysOf(workspace);
  const isText = !('base' in file) && file.isAgentText;
  const isLarge = stat.size > MAX_REDACTED_BYTES;
  if (isLarge && isText) return undefined;
  const source = 'base' in file ? baseSource(workspace, path, file.base) : inodeSource(workspace, file);
  const contents = isLarge ? Buffer.alloc(0) : wholeOf(source, stat.size);
  if (isText) return contents;
  return (yield* redacting(contents, isLarge ? 'all' : redactor, bound ? own.bound : own)).bytes;
}

function wholeOf(open: Source, size: number): Buffer {
  const reader = open();
  try {
    const bytes = Buffer.allocUnsafeSlow(size);
    return bytes.subarray(0, reader.read(0, bytes));
  } finally {
    reader.close();
  }
}
