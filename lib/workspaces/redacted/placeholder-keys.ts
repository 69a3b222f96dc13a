import { Placeholders } from '../../redaction/placeholders.ts';
import { redactionKey } from '../delta/redaction-key.ts';
import type { Workspace } from '../workspace.ts';

interface Keys {
  /** Of this sandbox, in hexadecimal. */
  key: string;
  own: Placeholders;
}

const KEYS = new WeakMap<Workspace, Keys>();

/** The placeholders that the sandbox is shown. Throws host errors. */
export function keysOf(workspace: Workspace): Keys {
  const known = KEYS.get(workspace);
  if (known !== undefined) return known;
  const key = redactionKey(workspace.spec.delta);
  const made = { key: Buffer.from(key).toString('hex'), own: new Placeholders(key) };
  KEYS.set(workspace, made);
  return made;
}

/** Sandboxes that a sandbox was forked from, each of the one before, whose placeholders are known: each takes time. */
const MAX_ANCESTORS = 8;

/** Those that texts of the agent may have: its own, then those of the sandboxes that it was forked from last. */
export function* allPlaceholders(workspace: Workspace): Generator<Placeholders> {
  const { key, own } = keysOf(workspace);
  yield own;
  const others = workspace.placeholderKeys.filter((other) => other !== key);
  for (const other of others.slice(-MAX_ANCESTORS)) yield new Placeholders(Buffer.from(other, 'hex'));
}
