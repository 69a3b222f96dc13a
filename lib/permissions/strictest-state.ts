import type { ByteString } from '../byte-string.ts';
import { isRedactedLevel, type Level, MERGED, NONE, READ, REDACTED, WRITE } from './levels.ts';
import type { RuleState } from './rule-set.ts';

/** The state of a file with two paths: the stricter level of both, also for the paths below. */
export function strictestState(a: RuleState, b: RuleState): RuleState {
  if (a === b || allowsAll(b)) return a;
  return allowsAll(a) ? b : new StrictestState(a, b);
}

function allowsAll({ level, uniformBelow }: RuleState): boolean {
  return level === WRITE && uniformBelow === WRITE;
}

class StrictestState implements RuleState {
  readonly #a: RuleState;
  readonly #b: RuleState;

  constructor(a: RuleState, b: RuleState) {
    this.#a = a;
    this.#b = b;
  }

  get level(): Level {
    return strictest(this.#a.level, this.#b.level);
  }

  get redactor(): string | undefined {
    return isRedactedLevel(this.level) ? (this.#a.redactor ?? this.#b.redactor) : undefined;
  }

  get scratch(): boolean {
    return this.#a.scratch && this.#b.scratch;
  }

  /** May be true although everything that one path shows below is hidden by the other. */
  get visibleBelow(): boolean {
    return this.#a.visibleBelow && this.#b.visibleBelow;
  }

  get writableBelow(): boolean {
    return this.#a.writableBelow && this.#b.writableBelow;
  }

  get uniformBelow(): Level | undefined {
    const [a, b] = [this.#a.uniformBelow, this.#b.uniformBelow];
    if (a === NONE || b === NONE) return NONE;
    return a === undefined || b === undefined ? undefined : strictest(a, b);
  }

  child(name: ByteString): RuleState {
    return strictestState(this.#a.child(name), this.#b.child(name));
  }
}

export function strictest(a: Level, b: Level): Level {
  // What may be read but not changed, and changed but not read, may be neither.
  if ((a === MERGED && b === READ) || (a === READ && b === MERGED)) return REDACTED;
  return a < b ? a : b;
}
