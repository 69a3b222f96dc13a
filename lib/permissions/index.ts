/** Per-path permission rules: compiled once, evaluated path by path. No side effects and no I/O. */
export { compileRules, compiling } from './compile.ts';
export { compileGlob, compilingExcluded, isMatched } from './excluded-paths.ts';
export { type Explanation, explain } from './explain.ts';
export {
  isRedactedLevel,
  type Level,
  levelOf,
  levelOfRule,
  MERGED,
  mayChangeName,
  NONE,
  permissionOf,
  READ,
  REDACTED,
  VIEW,
  WRITE,
} from './levels.ts';
export { findingNamed } from './named-secrets.ts';
export { findingNeverDeciding } from './never-deciding.ts';
export { findPreset, PRESETS } from './presets.ts';
export type { RuleSet, RuleState } from './rule-set.ts';
export { expandingRules, isEmptyShortForm } from './short-rules.ts';
export { strictest, strictestState } from './strictest-state.ts';
