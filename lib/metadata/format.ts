import { createHash } from 'node:crypto';
import { IdMap } from '../id-map.ts';
import type { CodebaseRecord, GoneRecord, KeyRecord, OwnerRecord, SandboxRecord, SecretRecord } from './metadata.ts';

export interface State {
  codebases: IdMap<CodebaseRecord>;
  sandboxes: IdMap<SandboxRecord>;
  keys: IdMap<KeyRecord>;
  owners: IdMap<OwnerRecord>;
  gone: IdMap<GoneRecord>;
  secrets: IdMap<SecretRecord>;
}

const VERSION = 1;

/**
 * The file was not written by this server or is damaged; the message completes a sentence that begins with the file's
 * name.
 */
export class DamagedError extends Error {}

/** The state of a server without any records, in the present format version. */
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

/** Records are immutable, so the JSON of each is cached: writing 10,000 records costs one join. */
export function createSerializer(): (state: State) => string {
  const json = new WeakMap<object, string>();
  const list = (records: Iterable<object>) => {
    const parts: string[] = [];
    for (const record of records) {
      let part = json.get(record);
      if (part === undefined) {
        part = JSON.stringify(record);
        json.set(record, part);
      }
      parts.push(part);
    }
    return parts.length ? `[\n${parts.join(',\n')}\n]` : '[]';
  };
  return (state) => {
    // Absent if empty: the file is then that of a server that has none.
    const added = (['keys', 'owners', 'gone', 'secrets'] as const)
      .filter((kind) => state[kind].size > 0)
      .map((kind) => `,"${kind}":${list(state[kind].values())}`);
    const base = `"codebases":${list(state.codebases.values())},"sandboxes":${list(state.sandboxes.values())}`;
    const body = `{${base}${added.join('')}}`;
    return `{"version":${VERSION},"sha256":"${sha256(body)}","state":${body}}\n`;
  };
}

/**
 * Parses the state; throws DamagedError. `sha256` covers the bytes from after `"state":` to before the last brace; a
 * file repaired by hand omits it.
 */
export function parseState(text: string): State {
  const file = parseObject(text);
  if (file.version !== VERSION) {
    throw new DamagedError(`has version ${JSON.stringify(file.version) ?? 'none'}, this server reads ${VERSION}`);
  }
  const unknown = Object.keys(file).find((key) => !['version', 'sha256', 'state'].includes(key));
  if (unknown !== undefined) throw new DamagedError(`has an unknown key ${JSON.stringify(unknown)}`);
  if (file.sha256 !== undefined) {
    const body = text.slice(text.indexOf('"state":') + '"state":'.length, text.lastIndexOf('}'));
    if (sha256(body) !== file.sha256) throw new DamagedError('does not match its checksum');
  }
  const state = file.state as { [kind in keyof State]?: unknown } | null | undefined;
  return {
    codebases: byId<CodebaseRecord>('codebases', state?.codebases, ['name', 'owner_id']),
    sandboxes: byId<SandboxRecord>('sandboxes', state?.sandboxes, ['codebase_id', 'owner_id', 'status', 'runtime']),
    keys: byId<KeyRecord>('keys', state?.keys ?? [], ['role', 'owner_id', 'sandbox_id', 'sha256']),
    owners: byId<OwnerRecord>('owners', state?.owners ?? [], []),
    gone: byId<GoneRecord>('gone', state?.gone ?? [], ['owner_id', 'reason']),
    secrets: byId<SecretRecord>('secrets', state?.secrets ?? [], ['owner_id', 'name', 'key_id', 'sealed']),
  };
}

function parseObject(text: string): Record<string, unknown> {
  if (text.trim() === '') throw new DamagedError('is empty');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new DamagedError('is not whole JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new DamagedError('is not a state');
  return value as Record<string, unknown>;
}

function byId<R extends { readonly id: string }>(kind: string, list: unknown, strings: readonly string[]) {
  if (!Array.isArray(list)) throw new DamagedError(`has no list of ${kind}`);
  const records = new IdMap<R>();
  for (const record of list as unknown[]) {
    const fields = record as Record<string, unknown> | null;
    if ([...strings, 'id'].some((name) => typeof fields?.[name] !== 'string')) {
      throw new DamagedError(`has a record in ${kind} that is not one`);
    }
    records.set((record as R).id, Object.freeze(record as R));
  }
  return records;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
