import type { Paddock, RefusedPath, Sandbox } from 'paddock-sandbox';
import { all } from '../names/all.ts';
import { printableName, quotedName } from '../output/printable.ts';
import { ruleText } from '../output/rule-text.ts';
import { counted } from '../review/changes.ts';

const MOST_NAMED = 3;
const MOST_MS = 2000;

/** What a new run permits it with. */
const PERMITS: Readonly<Record<string, string>> = {
  hidden: '--rule read:PATTERN',
  not_readable: '--rule read:PATTERN',
  placeholders: '--show PATTERN',
  read_only: '--rule write:PATTERN',
};

/** What the rules refused in a sandbox. The command has run: what fails here is no failure of it. */
export const refusalsOf = (sandbox: Sandbox): Promise<readonly RefusedPath[]> =>
  sandbox.refusals({ signal: AbortSignal.timeout(MOST_MS) }).catch(() => []);

/** As `refusalsOf`, by the id. */
export const refusalsIn = (paddock: Paddock, sandboxId: string): Promise<readonly RefusedPath[]> =>
  all(paddock.api.listRefusals({ sandboxId }, { signal: AbortSignal.timeout(MOST_MS) })).catch(() => []);

/** Those that were refused again, or for the first time. */
export function refusedSince(before: readonly RefusedPath[], now: readonly RefusedPath[]): readonly RefusedPath[] {
  const counts = new Map(before.map(({ path, count }) => [path, count]));
  return now.filter(({ path, count }) => count > (counts.get(path) ?? 0));
}

/** One line for people; '' if nothing was refused. `sandboxId`: undefined if the sandbox ends with the command. */
export function refusedByRules(refusals: readonly RefusedPath[], sandboxId?: string): string {
  if (refusals.length === 0) return '';
  const first = refusals.slice(0, MOST_NAMED);
  const named = first.map(
    ({ path, rule }) => `${quotedName(path) || '/'}${rule?.rule ? ` (${ruleText(rule.rule)})` : ''}`,
  );
  const more = refusals.length > first.length ? `, and ${refusals.length - first.length} more` : '';
  const permits = new Set(first.flatMap(({ code }) => PERMITS[code] ?? []));
  const how = sandboxId === undefined ? [...permits].join(', ') : `paddock rules add ${sandboxId} LEVEL:PATTERN`;
  const advice = permits.size === 0 ? '' : `; to permit: ${how}`;
  const were = refusals.length === 1 ? 'was' : 'were';
  return `paddock: ${counted(refusals.length, 'path')} ${were} refused by the rules: ${named.join(', ')}${more}${advice}`;
}

/** One refusal with its reason. */
export function refusedText({ path, reason, rule, count }: RefusedPath): string {
  const by = rule?.rule === undefined ? '' : `${ruleText(rule.rule)}; `;
  return `${quotedName(path) || '/'}: ${printableName(reason)} (${by}${counted(count, 'time')})`;
}
