import type { Sandbox } from 'paddock-sandbox';
import { requireUpload } from 'paddock-sandbox/local';
import { localDirectory } from '../local/record.ts';
import { isLocal } from '../tools/options.ts';
import { deleteOld, keptCodebase } from './kept-codebase.ts';
import {
  createFrom,
  createTracked,
  destroyOwned,
  destroyWithSecrets,
  type NewSandbox,
  nameOf,
  OWNED,
  trackedIn,
  type UploadCall,
  validate,
} from './new-sandbox.ts';

export interface RunSandbox {
  sandbox: Sandbox;
  /** Removes it. The next run of the directory may take its files. */
  remove(options: { signal: AbortSignal }): Promise<void>;
  /** It stays, with its files. */
  keep(): void;
}

/**
 * A sandbox for one run. On the local server its codebase stays for the next run, which sends only what has changed:
 * the records of it are in the directory of that server, and go with it.
 */
export async function runSandbox(
  { paddock, out, signal, env }: UploadCall,
  { directory, pack, options, asked }: Required<NewSandbox>,
): Promise<RunSandbox> {
  if (directory === undefined || !isLocal(paddock, env)) {
    const sandbox = await createFrom({ paddock, out, signal, env }, { directory, pack, options, asked });
    return { sandbox, remove: (how) => destroyOwned(sandbox, how), keep: () => undefined };
  }
  await requireUpload(directory, pack);
  const state = localDirectory(env);
  const tracked = trackedIn(directory, { env, signal });
  const all = { ...options, labels: { ...options.labels, [OWNED]: 'own' }, signal };
  const record = await keptCodebase({ paddock, out, signal, state }, directory, {
    options: pack,
    name: nameOf(directory),
    validate: (codebase) => validate(paddock, { ...all, codebase }, asked),
  });
  try {
    const sandbox = await createTracked(paddock, { ...all, codebase: record.codebaseId }, { asked, tracked });
    // Beside the command: a large one takes seconds.
    void deleteOld({ paddock, state });
    const remove = async (how: { signal: AbortSignal }) => {
      await destroyWithSecrets(sandbox, how);
      record.giveBack();
    };
    return { sandbox, remove, keep: () => record.forget() };
  } catch (error) {
    record.giveBack();
    throw error;
  }
}
