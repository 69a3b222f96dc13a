import { invalidArgument, ServiceError } from '../errors.ts';
import { compileRules, compiling } from './compile.ts';
import { WRITE } from './levels.ts';
import { parsePattern } from './parse-pattern.ts';
import { PatternError } from './pattern-limits.ts';
import type { RuleState } from './rule-set.ts';

/** Globs parsed in one step. */
const GLOBS_PER_STEP = 64;

/**
 * Compiles globs that exclude the paths that they match, with everything below, in steps. Returns the state of the root
 * for `isMatched`; undefined: there are none. Throws INVALID_ARGUMENT naming `exclude[i]`; `field`: another name.
 */
export function* compilingExcluded(
  globs: readonly string[],
  field = 'exclude',
): Generator<undefined, RuleState | undefined, void> {
  if (globs.length === 0) return undefined;
  const rules = [];
  for (const [index, glob] of globs.entries()) {
    const top = glob.replace(/\/$/, '');
    // Such a glob also matches the path itself.
    const pattern = top.endsWith('/**') ? top : `${top}/**`;
    check(top, `${field}[${index}]`);
    check(pattern, `${field}[${index}]`);
    rules.push(ruleOf(pattern));
    if (index % GLOBS_PER_STEP === GLOBS_PER_STEP - 1) yield;
  }
  try {
    return (yield* compiling(rules)).root;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    throw invalidArgument(field, 'is more than can be held; use fewer or simpler globs');
  }
}

/** Compiles one glob for the paths that it matches. Throws INVALID_ARGUMENT naming `field`. */
export function compileGlob(glob: string, field: string): RuleState {
  check(glob, field);
  return compileRules([ruleOf(glob)]).root;
}

/** Whether the path of the state is one that a glob matches, or excludes. */
export function isMatched(state: RuleState | undefined): boolean {
  return state?.level === WRITE;
}

const ruleOf = (pattern: string) =>
  ({ pattern, permission: 'PERMISSION_WRITE', type: 'PATTERN_GLOB', priority: 0 }) as const;

function check(glob: string, field: string): void {
  try {
    parsePattern('PATTERN_GLOB', glob);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    throw invalidArgument(field, `${JSON.stringify(glob.slice(0, 100))} ${error.message}`);
  }
}
