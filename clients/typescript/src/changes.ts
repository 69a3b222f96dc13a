import type { Api } from './api.ts';
import type { CommitRequest, CommitResponse, FileChange } from './contract/messages.ts';
import { all, PAGE_SIZE, pages } from './pages.ts';

/** Which changes. */
export interface ChangeSelection {
  /** Only at these paths, each with everything below it. */
  paths?: readonly string[] | undefined;
  /** Not at the paths that these globs match. */
  exclude?: readonly string[] | undefined;
  /** Also what was written at scratch paths. */
  includeScratch?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

export interface ShownChanges extends ChangeSelection {
  /** "agent": only what the rules show to the sandbox's commands. */
  as?: 'agent' | 'owner' | undefined;
}

export interface CommitOptions extends ChangeSelection {
  /** "ours": the sandbox's version wins; "theirs": the codebase's. Otherwise a conflict is a ConflictError. */
  onConflict?: 'ours' | 'theirs' | undefined;
  /** Only report what would be committed. */
  dryRun?: boolean | undefined;
  idempotencyKey?: string | undefined;
}

export function listChanges(api: Api, sandboxId: string, { signal, ...choice }: ShownChanges): Promise<FileChange[]> {
  return all(
    pages(
      (pageToken) => api.listChanges({ ...choice, sandboxId, pageToken, pageSize: PAGE_SIZE }, { signal }),
      ({ changes }) => changes,
    ),
  );
}

export function exportChanges(
  api: Api,
  sandboxId: string,
  format: 'patch' | 'tar',
  { signal, ...choice }: ShownChanges,
): Promise<Response> {
  return api.exportChanges({ ...choice, sandboxId, format }, { signal });
}

export function commitChanges(api: Api, sandboxId: string, options: CommitOptions): Promise<CommitResponse> {
  const { signal, idempotencyKey, ...choice } = options;
  return api.commit({ ...choice, sandboxId } satisfies CommitRequest, { signal, idempotencyKey });
}
