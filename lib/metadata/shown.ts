import type { Checkpoint, Codebase, Key, Sandbox } from '../contract/messages.ts';
import type { CheckpointRecord, CodebaseRecord, KeyRecord, SandboxRecord } from './metadata.ts';

/** A sandbox in the form of the API, without internal fields of its record. */
export function shownSandbox(record: SandboxRecord): Sandbox {
  const { uid, commit_owed, origin, checkpoints, changed, delta_bytes, intent, ...sandbox } = record;
  return sandbox;
}

export function shownCodebase({ intent, ...codebase }: CodebaseRecord): Codebase {
  return codebase;
}

export function shownCheckpoint(sandbox_id: string, { layer, intent, ...checkpoint }: CheckpointRecord): Checkpoint {
  return { sandbox_id, ...checkpoint };
}

/** Without the hash of its secret. */
export function shownKey({ sha256, intent, ...key }: KeyRecord): Key {
  return key;
}
