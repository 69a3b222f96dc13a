import { type ByteString, baseNameOf, parentOf, ROOT_PATH, toText } from '../../../byte-string.ts';
import type { PermissionRule, RuleWarning } from '../../../contract/messages.ts';
import { compiling, findingNeverDeciding, READ, type RuleSet, type RuleState } from '../../../permissions/index.ts';
import { redactorOf } from '../../../redaction/redactor-of.ts';
import type { CodebaseNames } from './codebase-names.ts';

const MAX_WARNINGS = 50;
const MAX_SECRETS = 20;
/**
 * Rules that never decide. Their warnings have room beside those of all secrets, so that which ones are told does not
 * depend on the codebase: keys that may not read files see them.
 */
const MAX_NEVER_DECIDING = MAX_WARNINGS - MAX_SECRETS - 1;
/** Rules that are compared with each other. */
const MAX_COMPARED = 200;
/** Entries matched in one step. */
const ENTRIES_PER_STEP = 64;

/** Which entries a rule matches. */
interface Matches {
  files: boolean;
  /** Directories with entries. */
  directories: boolean;
}

/**
 * Warnings about rules, from index `own` on, on a codebase, in steps. Not about the rules before, which are a preset's.
 */
export function* findingWarnings(
  rules: readonly PermissionRule[],
  own: number,
  names: CodebaseNames,
): Generator<undefined, RuleWarning[], void> {
  if (rules.length === 0)
    return [warning('no_rules', 'No rule: everything is hidden from the commands of the sandbox.')];
  const compiled = yield* compiling(rules);
  const warnings: RuleWarning[] = [];
  for (const [index, { path, why }] of names.secrets.entries()) {
    if (index % ENTRIES_PER_STEP === 0) yield;
    if (warnings.length === MAX_SECRETS) break;
    // A rule says that it is none, or that it is to be seen.
    if (compiled.decide(path) < READ || isShown(compiled, path)) continue;
    const hint =
      redactorOf(toText(baseNameOf(path))) === 'all' ? '' : ' A rule with view "redacted" shows its keys only.';
    const text = `${JSON.stringify(toText(path))} looks like a secret (${why}), and commands can read it.${hint}`;
    warnings.push({ ...warning('readable_secret', text, compiled.matching(path)[0]?.index), path: toText(path) });
  }
  const few = rules.length <= MAX_COMPARED;
  const neverDeciding = few ? yield* findingNeverDeciding(rules, own) : [];
  for (const { index, by } of neverDeciding.slice(0, MAX_NEVER_DECIDING)) {
    const text = `${shown(rules, index)} never decides: ${shown(rules, by)} precedes it at every path that it matches.`;
    warnings.push(warning('never_decides', text, index));
  }
  const matches = yield* matching(compiled, names);
  for (const [index, rule] of rules.entries()) {
    if (index % ENTRIES_PER_STEP === 0) yield;
    if (index < own || rule.scratch) continue;
    const { files, directories } = matches.get(index) ?? { files: false, directories: false };
    if (files) continue;
    if (directories && !/(^|\/)\*\*$/.test(rule.pattern) && rule.type !== 'PATTERN_DIRECTORY') {
      const text = `${shown(rules, index)} matches directories, but nothing below them: end the pattern in /**, or use the type directory.`;
      warnings.push(warning('directory_only', text, index));
    } else if (names.entries.length > 0 && names.complete.names && !matches.has(index)) {
      warnings.push(warning('matches_nothing', `${shown(rules, index)} matches nothing in the codebase now.`, index));
    }
  }
  const isComplete =
    few && neverDeciding.length <= MAX_NEVER_DECIDING && names.complete.names && names.complete.contents;
  if (!isComplete) warnings.push(INCOMPLETE);
  return warnings.length <= MAX_WARNINGS ? warnings : [...warnings.slice(0, MAX_WARNINGS - 1), INCOMPLETE];
}

function isShown(rules: RuleSet, path: ByteString): boolean {
  return rules.contentsRules(path).some(({ rule }) => rule.contents === 'shown');
}

/** Which entries each rule matches, by its index. Paths that the rules do not distinguish are counted once. */
function* matching(rules: RuleSet, { entries }: CodebaseNames): Generator<undefined, Map<number, Matches>, void> {
  const directories = new Map<ByteString, RuleState>([[ROOT_PATH, rules.root]]);
  const seen = new Map<RuleState, Matches>();
  for (const [index, { path, directory }] of entries.entries()) {
    const state = directories.get(parentOf(path))!.child(baseNameOf(path));
    if (directory !== undefined) directories.set(path, state);
    const known = seen.get(state) ?? { files: false, directories: false };
    seen.set(state, {
      files: known.files || directory === undefined,
      directories: known.directories || directory === 'filled',
    });
    if (index % ENTRIES_PER_STEP === 0) yield;
  }
  const found = new Map<number, Matches>();
  for (const [state, { files, directories }] of seen) {
    for (const index of rules.matchingAt(state)) {
      const known = found.get(index) ?? { files: false, directories: false };
      found.set(index, { files: known.files || files, directories: known.directories || directories });
    }
    yield;
  }
  return found;
}

const INCOMPLETE = warning(
  'incomplete',
  'The rules or the codebase were examined in part only: there may be more warnings.',
);

/** The warnings of rules that could not be examined in time. */
export const UNFINISHED: readonly RuleWarning[] = [INCOMPLETE];

function warning(code: string, message: string, rule = -1): RuleWarning {
  return { code, rule, path: '', message };
}

const shown = (rules: readonly PermissionRule[], index: number): string =>
  `permissions[${index}] (${JSON.stringify(rules[index]!.pattern.slice(0, 100))})`;
