import type { ForkResult } from '../contract/messages.ts';
import { CODES } from '../errors.ts';
import type { Metadata, SandboxRecord } from '../metadata/metadata.ts';
import { shownCheckpoint, shownCodebase, shownSandbox } from '../metadata/shown.ts';
import type { Intent } from './answer-lines.ts';

/** The operations that take an idempotency key: those that create something, or commit. */
export const KEYED_OPERATIONS = [
  'CreateSandbox',
  'Fork',
  'CreateCheckpoint',
  'Commit',
  'CreateCodebase',
  'CreateKey',
] as const;
export type KeyedOperation = (typeof KEYED_OPERATIONS)[number];

/**
 * For each operation: the answer to a request that was cut off by the end of the server, found by what the request
 * left; undefined: it had no effect, or none that stays. Only valid before the server accepts calls.
 */
export type Interrupted = Readonly<Record<KeyedOperation, (intent: Intent) => Promise<unknown>>>;

export function isKeyed(operation: string): operation is KeyedOperation {
  return KEYED_OPERATIONS.some((each) => each === operation);
}

/** Finds what cut off requests left in the metadata, after the recovery of sandboxes and codebases. */
export function interruptedIn({ sandboxes, codebases, keys }: Metadata): Interrupted {
  const sandboxesOf = ({ id }: Intent) => [...sandboxes.values()].filter(({ intent }) => intent === id);
  const shown = (record: SandboxRecord) => shownSandbox(record, Date.now());
  return {
    CreateSandbox: async (intent) => sandboxesOf(intent).map(shown)[0],
    Fork: async (intent) => {
      const made: ForkResult[] = sandboxesOf(intent).map((record) => ({ sandbox: shown(record) }));
      if (made.length === 0) return undefined;
      const missing = Math.max(0, (intent.count ?? made.length) - made.length);
      const error = { code: CODES.UNAVAILABLE.grpc, message: 'the server ended before this fork was created' };
      return { results: [...made, ...Array.from({ length: missing }, () => ({ error }))] };
    },
    CreateCheckpoint: async (intent) => {
      for (const { id, checkpoints = [] } of sandboxes.values()) {
        const made = checkpoints.find((each) => each.intent === intent.id);
        if (made !== undefined) return shownCheckpoint(id, made);
      }
      return undefined;
    },
    // A prepared commit is recorded with its answer, when it is prepared or when it is finished after a restart.
    Commit: async () => undefined,
    CreateCodebase: async (intent) =>
      [...codebases.values()].filter((each) => each.intent === intent.id).map(shownCodebase)[0],
    // Nobody has the secret of such a key: it is removed, and a retry creates another.
    CreateKey: async (intent) => {
      for (const { id } of [...keys.values()].filter((each) => each.intent === intent.id)) await keys.remove(id);
      return undefined;
    },
  };
}
