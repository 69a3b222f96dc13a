import type { PatternType, Permission, PermissionRule, PermissionRules } from '../contract/messages.ts';
import { invalidArgument } from '../errors.ts';
import { covers } from './covers.ts';
import { componentKey, parsePattern } from './parse-pattern.ts';
import { parseRulePattern } from './parse-rule-pattern.ts';
import { PatternError } from './pattern-limits.ts';
import { OTHERS_PRIORITY } from './preset-priorities.ts';
import type { Component } from './tokens.ts';

type List = keyof PermissionRules;

/**
 * The lists, the strictest first, with the priorities of their rules. Rules of presets have 0 and those of `**` less; so a
 * list that allows writing adds to what a preset makes scratch, and a stricter one restricts it. Secrets of presets are
 * above all.
 */
const LISTS = [
  { list: 'none', permission: 'PERMISSION_NONE', priority: 40 },
  { list: 'view', permission: 'PERMISSION_VIEW', priority: 30 },
  { list: 'redacted', permission: 'PERMISSION_READ', priority: 25 },
  { list: 'read', permission: 'PERMISSION_READ', priority: 20 },
  { list: 'scratch', permission: 'PERMISSION_WRITE', priority: 10 },
  { list: 'write', permission: 'PERMISSION_WRITE', priority: -10 },
] as const satisfies { list: Exclude<List, 'shown'>; permission: Permission; priority: number }[];

const SPECIAL = /[*?[\]{}\\]/;
const ALL_OTHERS = ['**', '/**', '/'];

interface Entry {
  /** Field of the request. */
  at: string;
  list: List;
  text: string;
  key: string;
  components: readonly Component[];
  isAllOthers: boolean;
}

export function isEmptyShortForm(rules: PermissionRules | undefined): boolean {
  return rules === undefined || (rules.shown.length === 0 && LISTS.every(({ list }) => rules[list].length === 0));
}

/**
 * The rules that the short form stands for, in steps: the strictest list first, each list in its order. Throws
 * INVALID_ARGUMENT naming `rules.<list>[i]` for patterns that are not valid or contradict each other.
 */
export function* expandingRules(short: PermissionRules): Generator<undefined, PermissionRule[], void> {
  const stricter: Entry[] = [];
  const rules: PermissionRule[] = [];
  let allOthers: Entry | undefined;
  for (const { list, permission, priority } of LISTS) {
    const entries: Entry[] = [];
    for (const [index, text] of short[list].entries()) {
      const type = typeOf(text);
      const entry = entryOf(list, index, text, type);
      entries.push(entry);
      if (entry.isAllOthers) {
        if (allOthers !== undefined && allOthers.list !== list) throw inTwo(entry, allOthers);
        allOthers = entry;
      } else refuseUseless(entry, stricter);
      const attribute = (list === 'scratch' && { scratch: true }) || (list === 'redacted' && { view: 'redacted' });
      rules.push({
        pattern: text,
        permission,
        type,
        priority: entry.isAllOthers ? OTHERS_PRIORITY : priority,
        ...attribute,
      });
      yield;
    }
    for (const entry of entries) if (!entry.isAllOthers) stricter.push(entry);
  }
  for (const [index, text] of short.shown.entries()) {
    const type = typeOf(text);
    entryOf('shown', index, text, type);
    rules.push({ pattern: text, permission: 'PERMISSION_NONE', type, priority: 0, contents: 'shown' });
    yield;
  }
  return rules;
}

/** A path without special characters stands for everything below it, too. */
function typeOf(text: string): PatternType {
  return SPECIAL.test(text) ? 'PATTERN_GLOB' : 'PATTERN_DIRECTORY';
}

function entryOf(list: List, index: number, text: string, type: PatternType): Entry {
  const at = `rules.${list}[${index}]`;
  try {
    const { components } = parseRulePattern({ type, pattern: text, scratch: list === 'scratch' });
    // Of the text: a pattern is the same one in the list for scratch, where it matches no `.git`.
    const key = parsePattern(type, text).components.map(componentKey).join('/');
    return { at, list, text, key, components, isAllOthers: ALL_OTHERS.includes(text) };
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    throw invalidArgument(at, `${shown(text)} ${error.message}`);
  }
}

function refuseUseless(entry: Entry, stricter: readonly Entry[]): void {
  for (const other of stricter) {
    if (other.key === entry.key) throw inTwo(entry, other);
    if (!covers(other.components, entry.components)) continue;
    const why = `${shown(entry.text)} can never decide: ${other.at} (${shown(other.text)}) is stricter and matches all of it`;
    throw invalidArgument(entry.at, `${why}; leave one out, or give permissions with priorities instead of rules`);
  }
}

function inTwo(entry: Entry, other: Entry) {
  return invalidArgument(
    entry.at,
    `${shown(entry.text)} is also in rules.${other.list}; a pattern can be in one list only`,
  );
}

const shown = (text: string): string => JSON.stringify(text.slice(0, 100));
