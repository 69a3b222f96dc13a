import type { Api } from './api.ts';
import type { ForkRequest, Sandbox as SandboxInfo } from './contract/messages.ts';
import { type Life, lifeOf } from './duration.ts';
import { errorOfBody } from './http/error-of.ts';

/** What differs from the forked sandbox. */
export interface ForkOptions extends Omit<ForkRequest, 'sandboxId' | 'count' | keyof Life>, Life {
  signal?: AbortSignal | undefined;
}

/** If one of the new sandboxes cannot be created, the others are destroyed and its error is thrown. */
export async function forkSandbox(
  api: Api,
  sandboxId: string,
  count: number,
  { signal, expiresIn, idleTimeout, ...fields }: ForkOptions,
): Promise<SandboxInfo[]> {
  const { results } = await api.fork(
    { ...fields, ...lifeOf({ expiresIn, idleTimeout }), sandboxId, count },
    { signal },
  );
  const created = results.flatMap(({ sandbox }) => sandbox ?? []);
  const failed = results.find(({ error }) => error !== undefined)?.error;
  if (failed === undefined) return created;
  await Promise.allSettled(created.map(({ id }) => api.destroySandbox({ sandboxId: id, discard: true })));
  throw errorOfBody(failed, { operation: 'fork' });
}
