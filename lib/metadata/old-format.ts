import { createHash } from 'node:crypto';
import { checked, DamagedError, emptyState, KINDS, put, type State } from './state.ts';

const OLD_VERSION = 1;

/**
 * Parses the file of a server without a log: one JSON object with all records. Throws DamagedError. `sha256` covers the
 * bytes from after `"state":` to before the last brace; a file repaired by hand omits it.
 */
export function parseOldState(text: string): State {
  const file = parseObject(text);
  if (file.version !== OLD_VERSION) {
    throw new DamagedError(`has version ${JSON.stringify(file.version) ?? 'none'}, which this server does not read`);
  }
  const unknown = Object.keys(file).find((key) => !['version', 'sha256', 'state'].includes(key));
  if (unknown !== undefined) throw new DamagedError(`has an unknown key ${JSON.stringify(unknown)}`);
  if (file.sha256 !== undefined) {
    const body = text.slice(text.indexOf('"state":') + '"state":'.length, text.lastIndexOf('}'));
    if (createHash('sha256').update(body).digest('hex') !== file.sha256) {
      throw new DamagedError('does not match its checksum');
    }
  }
  const lists = file.state as { [kind in keyof State]?: unknown } | null | undefined;
  const state = emptyState();
  for (const kind of KINDS) {
    const isOptional = kind !== 'codebases' && kind !== 'sandboxes';
    const list = lists?.[kind] ?? (isOptional ? [] : undefined);
    if (!Array.isArray(list)) throw new DamagedError(`has no list of ${kind}`);
    for (const record of list as unknown[]) put(state, kind, checked(kind, record));
  }
  return state;
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
