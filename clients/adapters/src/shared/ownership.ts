import { type CreateOptions, FailedPreconditionError, NotFoundError, type Sandbox } from 'paddock-sandbox';

const LABEL = 'adapter-codebase';

/** Labels of a new sandbox, which tell another program whether its codebase was made with it. */
export function ownership({ codebase, keepCodebase }: CreateOptions): Record<string, string> {
  return codebase === undefined && !keepCodebase ? { [LABEL]: 'own' } : {};
}

/**
 * Destroys a sandbox, and the codebase that was made with it. After another program made them the codebase is deleted only
 * if it has no files: others may have been committed.
 */
export async function destroy(sandbox: Sandbox): Promise<void> {
  const { api, info } = sandbox;
  await sandbox.destroy();
  if (info.labels[LABEL] === undefined) return;
  const { codebaseId } = info;
  try {
    for await (const _ of api.listFiles({ codebaseId, path: '' })) return;
    await api.deleteCodebase({ codebaseId });
  } catch (error) {
    // It is deleted already, or another sandbox uses it.
    if (!(error instanceof NotFoundError || error instanceof FailedPreconditionError)) throw error;
  }
}
