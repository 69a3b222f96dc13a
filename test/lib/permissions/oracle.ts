import type { PermissionRule } from '../../../lib/contract/messages.ts';

/**
 * A second, slow and simple implementation of the rules: patterns are expanded and matched by exhaustive search,
 * and the winner is found by comparing all rules that match. ASCII only.
 */
export function slowLevel(rules: readonly PermissionRule[], path: string): number {
  const names = path.split('/').filter((name) => name !== '');
  const matching = rules.filter((rule) => matchesRule(rule, names));
  const winner = matching.sort(beats)[0];
  return winner === undefined ? 0 : levelOfRule(winner);
}

const LEVELS = { PERMISSION_NONE: 0, PERMISSION_VIEW: 1, PERMISSION_READ: 4, PERMISSION_WRITE: 5 };

export function levelOfRule({ permission, view, on_write }: PermissionRule): number {
  if (view === 'redacted') return on_write === 'merge' ? 3 : 2;
  return LEVELS[permission];
}

const STRENGTH = { PATTERN_FILE: 2, PATTERN_DIRECTORY: 1, PATTERN_GLOB: 0 };

function beats(a: PermissionRule, b: PermissionRule): number {
  if (a.priority !== b.priority) return b.priority - a.priority;
  if (a.type !== b.type) return STRENGTH[b.type] - STRENGTH[a.type];
  if (isExact(a) !== isExact(b)) return isExact(a) ? -1 : 1;
  const prefix = (rule: PermissionRule) => literalPrefix(rule).length;
  if (prefix(a) !== prefix(b)) return prefix(b) - prefix(a);
  return levelOfRule(a) - levelOfRule(b);
}

const relative = (rule: PermissionRule) => rule.pattern.replace(/^\//, '').replace(/\/$/, '');
const isExact = (rule: PermissionRule) => rule.type !== 'PATTERN_GLOB' || !/[*?[{]/.test(rule.pattern);
const literalPrefix = (rule: PermissionRule) =>
  rule.type === 'PATTERN_GLOB' ? (/^[^*?[{]*/.exec(relative(rule))?.[0] ?? '') : relative(rule);

function matchesRule(rule: PermissionRule, names: string[]): boolean {
  const pattern = relative(rule);
  if (rule.type === 'PATTERN_FILE') return pattern === names.join('/');
  if (rule.type === 'PATTERN_DIRECTORY') return `${names.join('/')}/`.startsWith(pattern === '' ? '' : `${pattern}/`);
  return multiplyOut(pattern).some((spelling) => matchesNames(spelling.split('/'), names, rule.scratch));
}

/** Braces, innermost first. */
function multiplyOut(pattern: string): string[] {
  const group = /\{([^{}]*)\}/.exec(pattern);
  if (group === null) return [pattern];
  const [before, after] = [pattern.slice(0, group.index), pattern.slice(group.index + group[0].length)];
  return (group[1] ?? '').split(',').flatMap((choice) => multiplyOut(before + choice + after));
}

function matchesNames(pattern: string[], names: string[], scratch = false): boolean {
  const [first, ...rest] = pattern;
  if (first === undefined) return names.length === 0;
  if (first === '**') {
    const outsideGit = scratch && rest.some((other) => other !== '**');
    const skipped = outsideGit && names.includes('.git') ? names.indexOf('.git') : names.length;
    return [...names, ''].some((_, i) => i <= skipped && matchesNames(rest, names.slice(i), scratch));
  }
  const name = names[0];
  return name !== undefined && matchesName(first, name) && matchesNames(rest, names.slice(1), scratch);
}

function matchesName(pattern: string, name: string): boolean {
  if (pattern === '') return name === '';
  const first = pattern[0];
  if (first === '*') return matchesName(pattern.slice(1), name) || (name !== '' && matchesName(pattern, name.slice(1)));
  if (name === '') return false;
  if (first === '[') {
    const end = pattern.indexOf(']', 2);
    const set = pattern.slice(1, end);
    const has = set.startsWith('!') ? !set.includes(name[0] as string) : set.includes(name[0] as string);
    return has && matchesName(pattern.slice(end + 1), name.slice(1));
  }
  return (first === '?' || first === name[0]) && matchesName(pattern.slice(1), name.slice(1));
}
