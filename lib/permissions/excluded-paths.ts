import { invalidArgument, ServiceError } from '../errors.ts';
import { compiling } from './compile.ts';
import { WRITE } from './levels.ts';
import { parsePattern } from './parse-pattern.ts';
import { PatternError } from './pattern-limits.ts';
import type { RuleState } from './rule-set.ts';

/** Globs parsed in one step. */
const GLOBS_PER_STEP = 64;

/**
 * Compiles globs that exclude the paths that they match, with everything below, in steps. Returns the state of the root
 * for `isExcluded`; undefined: there are none. Throws INVALID_ARGUMENT naming `exclude[i]`.
 */
export function* compilingExcluded(globs: readonly string[]): Generator<undefined, RuleState | undefined, void> {
  if (globs.length === 0) return undefined;
  const rules = [];
  for (const [index, glob] of globs.entries()) {
    const top = glob.replace(/\/$/, '');
    // Such a glob also matches the path itself.
    const pattern = top.endsWith('/**') ? top : `${top}/**`;
    check(top, index);
    check(pattern, index);
    rules.push({ pattern, permission: 'PERMISSION_WRITE', type: 'PATTERN_GLOB', priority: 0 } as const);
    if (index % GLOBS_PER_STEP === GLOBS_PER_STEP - 1) yield;
  }
  try {
    return (yield* compiling(rules)).root;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    throw invalidArgument('exclude', 'is more than can be held; use fewer or simpler globs');
  }
}

export function isExcluded(state: RuleState | undefined): boolean {
  return state?.level === WRITE;
}

function check(glob: string, index: number): void {
  try {
    parsePattern('PATTERN_GLOB', glob);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    throw invalidArgument(`exclude[${index}]`, `${JSON.stringify(glob.slice(0, 100))} ${error.message}`);
  }
}
