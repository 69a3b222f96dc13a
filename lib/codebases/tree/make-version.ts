import { ServiceError } from '../../errors.ts';
import { VERSION_LIMITS, type VersionKind } from '../../store/versions/version.ts';
import type { Writing } from '../../store/writing.ts';
import { identical } from '../../trees/format/entry.ts';
import { Edit, type EditParts } from './edit.ts';
import type { Head } from './head.ts';

/** What is asked of a codebase, and waits for its turn. */
export interface Change<Answer = unknown> {
  readonly kind: VersionKind;
  /** Has what it put already, if anything. */
  readonly writing?: Writing | undefined;
  /**
   * Makes it. A ServiceError refuses it, and then the edit is as it was, but for numbers that were taken. It may be
   * called again, with another edit.
   */
  apply(edit: Edit): Generator<void, Answer, void>;
}

export interface Made {
  /** undefined: all were refused, or changed nothing. */
  readonly head: Head | undefined;
  /** In the order of the changes. */
  readonly outcomes: readonly Outcome[];
  /** Ends when the new head is known to all, or will be to nobody. */
  readonly writing: Writing;
}

export type Outcome = { readonly answer: unknown } | { readonly refusal: ServiceError };

/** One version with all these changes; durable, but not the head yet. */
export function* makeVersion(
  head: Head,
  changes: readonly Change[],
  parts: EditParts & { ms: number },
): Generator<void, Made, void> {
  const writing = parts.store.begin();
  try {
    const edit = new Edit(head, writing, parts);
    const outcomes: Outcome[] = [];
    for (const change of changes) outcomes.push(yield* outcomeOf(change, edit));
    const made = changes.filter((_, index) => 'answer' in outcomes[index]!);
    if (made.length === 0) return { head: undefined, outcomes, writing };
    const root = yield* edit.build();
    if (identical(root, head.root)) return { head: undefined, outcomes, writing };
    const version = writing.putVersion({
      number: head.number + 1,
      kind: made[0]!.kind,
      createdAt: parts.ms,
      parent: head.version,
      root,
      nextIno: parts.numbers.next,
      author: '',
      message: '',
      paths: edit.paths.length > VERSION_LIMITS.paths ? [] : edit.paths,
      commit: undefined,
      request: undefined,
    });
    writing.sync();
    for (const change of made) change.writing?.sync();
    const next = { store: head.store, number: head.number + 1, version, root, nextIno: parts.numbers.next };
    return { head: next, outcomes, writing };
  } catch (error) {
    writing.end();
    throw error;
  }
}

/** A change that is a single step. */
export function* inOneStep<Answer>(step: () => Answer): Generator<void, Answer, void> {
  yield;
  return step();
}

function* outcomeOf(change: Change, edit: Edit): Generator<void, Outcome, void> {
  try {
    return { answer: yield* change.apply(edit) };
  } catch (error) {
    if (error instanceof ServiceError) return { refusal: error };
    throw error;
  }
}
