import type { Checkpoint, Codebase, Key, Sandbox } from '../contract/messages.ts';
import { NO_NETWORK, shownPolicy } from '../network/policy/shown-policy.ts';
import type { CheckpointRecord, CodebaseRecord, KeyRecord, SandboxRecord } from './metadata.ts';

/** Seconds before its expiry from which a sandbox is shown to expire soon. */
const SOON = 3600;

/** A sandbox in the form of the API, without internal fields of its record. `now`: Unix time in milliseconds. */
export function shownSandbox(record: SandboxRecord, now: number): Sandbox {
  const { uid, commit_owed, origin, checkpoints, changed, delta_bytes, home_bytes, intent, kept, ports, ...sandbox } =
    record;
  const { expires_at } = record;
  const network = shownPolicy(record.network ?? NO_NETWORK);
  const secrets = record.secrets ?? [];
  return {
    ...sandbox,
    network,
    secrets,
    read_only_paths: [...(record.read_only_paths ?? [])],
    workspace_path: record.workspace_path ?? '',
    warnings: [],
    expires_soon: expires_at !== 0 && now >= (expires_at - SOON) * 1000,
  };
}

/** With the totals of a new one. */
export function shownCodebase({ intent, contents, tree, ...codebase }: CodebaseRecord): Codebase {
  return { ...codebase, totals_outdated: false, revision: '' };
}

export function shownCheckpoint(sandbox_id: string, { layer, intent, ...checkpoint }: CheckpointRecord): Checkpoint {
  return { sandbox_id, ...checkpoint };
}

/** Without the hash of its secret. */
export function shownKey({ sha256, intent, ...key }: KeyRecord): Key {
  return key;
}
