import { withBreaks } from '../../../breaks.ts';
import type { PermissionRule, RuleWarning } from '../../../contract/messages.ts';
import type { Log } from '../../../log.ts';
import { type CodebaseNames, readNames } from './codebase-names.ts';
import { findingWarnings, UNFINISHED } from './warnings.ts';

/** Codebases whose names are kept. */
const MAX_CODEBASES = 16;
/** Lists of rules whose warnings are kept for each of them. */
const MAX_LISTS = 8;
/** Longest list of rules, as JSON, whose warnings are kept. */
const MAX_LIST_LENGTH = 64 * 1024;
/** Milliseconds that an answer may wait for warnings, counted from the start of its call. */
const PATIENCE_MS = 20;

interface Known {
  names: Promise<CodebaseNames>;
  /** By the list of rules and the number of the preset's. */
  warnings: Map<string, Promise<readonly RuleWarning[]>>;
}

/** Warnings that are being looked for. */
export interface Pending {
  /** The warnings, or that they are not known yet. Waits a few milliseconds at most. */
  settled(): Promise<readonly RuleWarning[]>;
}

/**
 * Examines rules on their codebases, beside the calls whose answers have the warnings. A codebase is read once for each
 * of its versions, and the same rules are examined once for each.
 */
export class RuleWarnings {
  readonly #root: (codebaseId: string) => string;
  readonly #log: Log;
  /** The least recently used first. */
  readonly #known = new Map<string, Known>();

  constructor(root: (codebaseId: string) => string, log: Log) {
    this.#root = root;
    this.#log = log;
  }

  /** Call after files of a codebase changed. */
  codebaseChanged(codebaseId: string): void {
    this.#known.delete(codebaseId);
  }

  /** Starts to examine rules; those before index `own` are a preset's. Never throws. */
  look(codebaseId: string, rules: readonly PermissionRule[], own: number): Pending {
    const until = performance.now() + PATIENCE_MS;
    const found = this.#find(codebaseId, rules, own).catch((err: unknown) => {
      this.#log.warn('rules could not be examined', { codebase_id: codebaseId, err });
      return UNFINISHED;
    });
    return { settled: () => within(found, until) };
  }

  async #find(codebaseId: string, rules: readonly PermissionRule[], own: number): Promise<readonly RuleWarning[]> {
    const known = this.#codebase(codebaseId);
    const key = rules.length > 1000 ? '' : JSON.stringify([own, rules]);
    const before = known.warnings.get(key);
    if (before !== undefined) return before;
    const found = known.names.then((names) => withBreaks(findingWarnings(rules, own, names)));
    if (key !== '' && key.length <= MAX_LIST_LENGTH) keep(known.warnings, key, found, MAX_LISTS);
    return found;
  }

  #codebase(id: string): Known {
    const known = this.#known.get(id) ?? { names: readNames(this.#root(id)), warnings: new Map() };
    known.names.catch(() => this.#known.delete(id));
    keep(this.#known, id, known, MAX_CODEBASES);
    return known;
  }
}

/** Sets an entry as the most recent one, and drops the oldest above `max`. */
function keep<V>(map: Map<string, V>, key: string, value: V, max: number): void {
  map.delete(key);
  map.set(key, value);
  for (const oldest of map.keys()) {
    if (map.size <= max) break;
    map.delete(oldest);
  }
}

async function within(found: Promise<readonly RuleWarning[]>, until: number): Promise<readonly RuleWarning[]> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<readonly RuleWarning[]>((resolve) => {
    timer = setTimeout(resolve, Math.max(0, until - performance.now()), UNFINISHED);
  });
  try {
    return await Promise.race([found, late]);
  } finally {
    clearTimeout(timer);
  }
}
