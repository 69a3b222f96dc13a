import { withBreaks } from '../../../breaks.ts';
import type { PermissionRule, RuleWarning } from '../../../contract/messages.ts';
import type { Log } from '../../../log.ts';
import { type CodebaseNames, type NamedEntry, readNames } from './codebase-names.ts';
import { findingWarnings, UNFINISHED } from './warnings.ts';

/** Codebases whose names are kept. */
const MAX_CODEBASES = 16;
/** Lists of rules whose warnings are kept for each of them. */
const MAX_LISTS = 8;
/** Longest list of rules, as JSON, whose warnings are kept. */
const MAX_LIST_LENGTH = 64 * 1024;
/** Milliseconds that an answer may wait for warnings, counted from the start of its call. */
const PATIENCE_MS = 20;
/** Entries and rules that take less than that, unless the host is busy: their warnings are waited for. */
const FEW_ENTRIES = 64;
const FEW_RULES = 50;
/** Milliseconds that an answer may wait in any case. */
const MOST_PATIENCE_MS = 5000;

interface Known {
  /** Those that have been read. */
  entries: readonly NamedEntry[];
  names: Promise<CodebaseNames>;
  /** By the list of rules and the number of the preset's. */
  warnings: Map<string, Promise<readonly RuleWarning[]>>;
}

/** Warnings that are being looked for. */
export interface Pending {
  /** The warnings, or that they are not known yet. Waits a few milliseconds at most for what is not little. */
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
    const start = performance.now();
    const known = this.#codebase(codebaseId);
    const found = this.#find(known, rules, own).catch((err: unknown) => {
      this.#log.warn('rules could not be examined', { codebase_id: codebaseId, err });
      return UNFINISHED;
    });
    const isLittle = () => rules.length <= FEW_RULES && known.entries.length <= FEW_ENTRIES;
    return { settled: () => patiently(found, start, isLittle) };
  }

  async #find(known: Known, rules: readonly PermissionRule[], own: number): Promise<readonly RuleWarning[]> {
    const key = rules.length > 1000 ? '' : JSON.stringify([own, rules]);
    const before = known.warnings.get(key);
    if (before !== undefined) return before;
    const found = known.names.then((names) => withBreaks(findingWarnings(rules, own, names)));
    if (key !== '' && key.length <= MAX_LIST_LENGTH) keep(known.warnings, key, found, MAX_LISTS);
    return found;
  }

  #codebase(id: string): Known {
    const known = this.#known.get(id) ?? reading(() => this.#root(id));
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

function reading(root: () => string): Known {
  const entries: NamedEntry[] = [];
  const names = async () => readNames(root(), entries);
  return { entries, names: names(), warnings: new Map() };
}

/** `isLittle` is asked again and again: what is read slowly may turn out not to be. */
async function patiently(found: Promise<readonly RuleWarning[]>, start: number, isLittle: () => boolean) {
  for (let until = start + PATIENCE_MS; ; until = performance.now() + PATIENCE_MS) {
    const warnings = await within(found, until);
    if (warnings !== undefined) return warnings;
    if (!isLittle() || performance.now() > start + MOST_PATIENCE_MS) return UNFINISHED;
  }
}

async function within<T>(found: Promise<T>, until: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), Math.max(0, until - performance.now()));
  });
  try {
    return await Promise.race([found, late]);
  } finally {
    clearTimeout(timer);
  }
}
