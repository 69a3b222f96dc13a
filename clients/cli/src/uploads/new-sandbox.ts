import { resolve } from 'node:path';
import {
  type CreateOptions,
  InvalidArgumentError,
  type Paddock,
  type PermissionRule,
  type Sandbox,
} from 'paddock-sandbox';
import { archiveOf, type PackOptions, requireUpload } from 'paddock-sandbox/local';
import { namesOfAgents, removeSecrets } from '../agents/secrets.ts';
import { rulesOfTracked } from '../git/kept-directories.ts';
import { Tracked } from '../git/tracked.ts';
import type { Output } from '../output/output.ts';

/** On a sandbox whose codebase was made for it: `rm` removes both. A commit takes it away. */
export const OWNED = 'paddock.codebase';

export interface UploadCall {
  paddock: Paddock;
  out: Output;
  signal: AbortSignal;
  env: Readonly<Record<string, string | undefined>>;
}

/** The directory as an archive whose transfer is shown. */
async function directoryBody(directory: string, pack: PackOptions, out: Output) {
  await requireUpload(directory, pack);
  return () => {
    const progress = out.progress('uploading');
    return progress.count(archiveOf(directory, pack, () => progress.file())());
  };
}

export interface NewSandbox {
  directory: string | undefined;
  pack: PackOptions;
  options: CreateOptions;
  /** See `wishesOf`. */
  asked?: Asked;
}

export interface Asked {
  wanted: CreateOptions;
  wishes: CreateOptions;
}

const NOTHING: Asked = { wanted: {}, wishes: {} };

export const createWith = (paddock: Paddock, options: CreateOptions, asked: Asked): Promise<Sandbox> =>
  withWishes(options, asked, (all) => paddock.sandboxes.create(all));

/** Before an upload: what the server would refuse after it. */
export const validate = (
  paddock: Paddock,
  options: CreateOptions & { codebase: string },
  asked: Asked,
): Promise<void> => withWishes(options, asked, (all) => paddock.sandboxes.validate(all));

/** What git tracks in a directory, looked up beside the upload. */
export function trackedIn(directory: string | undefined, call: Pick<UploadCall, 'env' | 'signal'>) {
  const tracked = directory === undefined ? undefined : Tracked.in(directory, call);
  tracked?.catch(() => undefined);
  return tracked;
}

/** With rules by which directories that git tracks are reviewed. */
export async function createTracked(
  paddock: Paddock,
  options: CreateOptions,
  { asked, tracked }: { asked: Asked; tracked: Promise<Tracked | undefined> | undefined },
): Promise<Sandbox> {
  const sandbox = await createWith(paddock, options, asked);
  await keepTracked(sandbox, rulesOfTracked((await tracked) ?? NO_FILES, options), options.signal);
  return sandbox;
}

/** Of what the user did not ask for, the server may refuse what its runtime has not. */
async function withWishes<O extends CreateOptions, T>(
  options: O,
  { wanted, wishes }: Asked,
  ask: (options: O) => Promise<T>,
): Promise<T> {
  try {
    return await ask({ ...options, ...wanted, ...wishes });
  } catch (error) {
    const isOfWish = error instanceof InvalidArgumentError && /^(workspace_path|read_only_paths)\b/.test(error.message);
    if (!isOfWish || Object.keys(wishes).length === 0) throw error;
    return ask({ ...options, ...wanted });
  }
}

/**
 * A sandbox with the files of a local directory. If this fails or is aborted, neither it nor its codebase is left: the
 * codebase is created without the signal, because an answer that is not read could not be undone.
 */
export async function createFrom(
  { paddock, out, signal, env }: UploadCall,
  { directory, pack, options, asked = NOTHING }: NewSandbox,
): Promise<Sandbox> {
  const body = directory === undefined ? undefined : await directoryBody(directory, pack, out);
  const tracked = trackedIn(directory, { env, signal });
  signal.throwIfAborted();
  const name = nameOf(directory);
  const codebase = await paddock.codebases.create({ name });
  try {
    const labels = { ...options.labels, [OWNED]: 'own' };
    const all = { ...options, codebase: codebase.id, labels, signal };
    if (body) {
      await validate(paddock, all, asked);
      await paddock.codebases.upload(codebase.id, body, { signal });
    }
    return await createTracked(paddock, all, { asked, tracked });
  } catch (error) {
    await paddock.codebases.delete(codebase.id).catch(() => undefined);
    throw error;
  }
}

const NO_FILES = new Tracked([]);

/** A sandbox that does not get its rules is none: what is written would be lost. */
async function keepTracked(
  sandbox: Sandbox,
  rules: readonly PermissionRule[],
  signal: AbortSignal | undefined,
): Promise<void> {
  if (rules.length === 0) return;
  try {
    await sandbox.rules.set(
      { preset: 'none', permissions: [...sandbox.info.permissions, ...rules] },
      signal ? { signal } : {},
    );
  } catch (error) {
    await sandbox.destroy({ discard: true }).catch(() => undefined);
    throw error;
  }
}

export const nameOf = (directory: string | undefined): string =>
  (directory !== undefined && resolve(directory).split('/').at(-1)) || 'sandbox';

/** Removes a sandbox with what is not committed, and the keys of its agent. */
export async function destroyWithSecrets(sandbox: Sandbox, options: { signal?: AbortSignal } = {}): Promise<void> {
  const { secrets } = sandbox.info;
  await sandbox.destroy({ discard: true, ...options });
  await removeSecrets(sandbox.api, namesOfAgents(secrets), options);
}

/** The same, and the codebase that was made for it, unless others use it. */
export async function destroyOwned(sandbox: Sandbox, options: { signal?: AbortSignal } = {}): Promise<void> {
  const { codebaseId, labels } = sandbox.info;
  await destroyWithSecrets(sandbox, options);
  if (labels[OWNED] !== 'own') return;
  await sandbox.api.deleteCodebase({ codebaseId }, options).catch(() => undefined);
}
