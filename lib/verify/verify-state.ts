import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config/schema.ts';
import { LockedError, takeExistingLock } from '../metadata/lock.ts';
import { foldersOf } from '../sandboxes/host/layout.ts';
import { FrozenLayers } from '../workspaces/delta/layers/frozen-layers.ts';
import { verifyCodebase } from './codebases.ts';
import { readMetadata } from './metadata.ts';
import { knownId, namesIn, noteOrphans } from './orphans.ts';
import { Report } from './report.ts';
import { Sandboxes } from './sandboxes.ts';

/**
 * Verifies the state that a configuration names, without changing it. Holds the server's locks meanwhile, so that none
 * starts. Throws an Error of one line if a server is running or if there is no state.
 */
export async function verifyState(
  storage: Pick<Config['storage'], 'codebasePath' | 'mountPath' | 'dbPath'>,
): Promise<Report> {
  const { dbPath, mountPath, codebasePath } = storage;
  const held: (() => void)[] = [];
  try {
    for (const path of [`${dbPath}.lock`, join(mountPath, '.lock'), join(codebasePath, '.lock')]) {
      held.push(lock(path));
    }
    await requireState(storage);
    return await verifyAll(storage);
  } finally {
    for (const release of held) release();
  }
}

function lock(path: string): () => void {
  try {
    return takeExistingLock(path) ?? (() => undefined);
  } catch (error) {
    if (!(error instanceof LockedError)) throw error;
    throw new Error(`a server runs on this state, stop it first: ${path} is locked`, { cause: error });
  }
}

async function verifyAll({
  dbPath,
  mountPath,
  codebasePath,
}: Pick<Config['storage'], 'codebasePath' | 'mountPath' | 'dbPath'>): Promise<Report> {
  const report = new Report();
  const folders = foldersOf(mountPath);
  const state = await readMetadata(dbPath, report);
  if (state === undefined) return report;
  for (const record of state.codebases.values()) await verifyCodebase(record, codebasePath, report);
  const frozen = new FrozenLayers();
  const sandboxes = new Sandboxes(folders, frozen, report);
  try {
    for (const record of state.sandboxes.values()) {
      const { id, codebase_id } = record;
      if (!state.codebases.has(codebase_id)) {
        report.damage(`there is no record of codebase ${codebase_id}`, dbPath, `sandbox ${id}`);
      }
      await sandboxes.verify(record);
    }
  } finally {
    frozen.closeFiles();
  }
  await noteOrphans(codebasePath, 'a codebase', knownId('cb', state.codebases), report);
  await noteOrphans(folders.deltas, 'a delta', knownId('sb', state.sandboxes), report);
  if (sandboxes.needsUnknown) report.note('what a damaged sandbox needs is unknown: unused layers are not told');
  else await noteOrphans(folders.layers, 'a layer', (layer) => sandboxes.needed.has(layer), report);
  return report;
}

/** A wrong path in the configuration must not pass as a state without damage. */
async function requireState({
  dbPath,
  mountPath,
  codebasePath,
}: Pick<Config['storage'], 'codebasePath' | 'mountPath' | 'dbPath'>): Promise<void> {
  if (existsSync(dbPath) || existsSync(`${dbPath}.bak`)) return;
  const { deltas, layers } = foldersOf(mountPath);
  const names = await Promise.all([deltas, layers, codebasePath].map(namesIn));
  if (names.some((each) => each.some((name) => name !== '.lock'))) return;
  throw new Error(`storage.db_path: ${dbPath} does not exist: there is no state to verify`);
}
