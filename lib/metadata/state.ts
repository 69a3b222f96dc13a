import { IdMap } from '../id-map.ts';
import type { CodebaseRecord, GoneRecord, KeyRecord, OwnerRecord, SandboxRecord, SecretRecord } from './metadata.ts';
import type { SharedValues } from './shared-values.ts';

/** All records, by kind and id. */
export interface State {
  codebases: IdMap<CodebaseRecord>;
  sandboxes: IdMap<SandboxRecord>;
  keys: IdMap<KeyRecord>;
  owners: IdMap<OwnerRecord>;
  gone: IdMap<GoneRecord>;
  secrets: IdMap<SecretRecord>;
}

export type Kind = keyof State;

/** The fields, besides `id`, that a stored record of a kind must have as strings. */
const STRINGS: Readonly<Record<Kind, readonly string[]>> = {
  codebases: ['name', 'owner_id'],
  sandboxes: ['codebase_id', 'owner_id', 'status', 'runtime'],
  keys: ['role', 'owner_id', 'sandbox_id', 'sha256'],
  owners: [],
  gone: ['owner_id', 'reason'],
  secrets: ['owner_id', 'name', 'key_id', 'sealed'],
};

export const KINDS = Object.keys(STRINGS) as readonly Kind[];

/** One change: a record to put, or the id of one to remove. */
export type Change = readonly [kind: Kind, record: { readonly id: string } | string];

/**
 * A file was not written by this server or is damaged; the message completes a sentence that begins with the file's
 * name.
 */
export class DamagedError extends Error {
  /** The file, if it is not that of the snapshot. */
  readonly path: string | undefined;

  constructor(message: string, path?: string) {
    super(message);
    this.path = path;
  }
}

/** The state of a server without any records. */
export function emptyState(): State {
  return {
    codebases: new IdMap(),
    sandboxes: new IdMap(),
    keys: new IdMap(),
    owners: new IdMap(),
    gone: new IdMap(),
    secrets: new IdMap(),
  };
}

/** A copy that later changes of the tables do not change. */
export function copyOf(state: State): State {
  const copy = emptyState();
  for (const kind of KINDS) for (const record of state[kind].values()) put(copy, kind, record);
  return copy;
}

/** Makes a change that was read from a file; throws DamagedError. `shared`: with what equal values are found. */
export function applyStored(state: State, change: unknown, shared: SharedValues): void {
  const [kind, record] = Array.isArray(change) ? (change as unknown[]) : [];
  if (!KINDS.includes(kind as Kind)) throw new DamagedError(`has a record of the unknown kind ${JSON.stringify(kind)}`);
  if (typeof record === 'string') state[kind as Kind].delete(record);
  else {
    if (typeof record === 'object' && record !== null) shared.share(record as Record<string, unknown>);
    put(state, kind as Kind, checked(kind as Kind, record));
  }
}

/** Throws DamagedError for what is no record of the kind. */
export function checked(kind: Kind, record: unknown): { readonly id: string } {
  const fields = record as Record<string, unknown> | null;
  if (typeof fields?.id !== 'string' || STRINGS[kind].some((name) => typeof fields[name] !== 'string')) {
    throw new DamagedError(`has a record in ${kind} that is not one`);
  }
  return Object.freeze(fields as { readonly id: string } & typeof fields);
}

/** `record`: one of the kind. */
export function put(state: State, kind: Kind, record: { readonly id: string }): void {
  (state[kind] as IdMap<{ readonly id: string }>).set(record.id, record);
}
