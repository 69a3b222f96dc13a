import type { Api } from './api.ts';
import type { ForkRequest, Sandbox as SandboxInfo } from './contract/messages.ts';
import { joined } from './http/arguments.ts';
import type { CallOptions } from './http/call.ts';
import { errorOfBody } from './http/error-of.ts';
import { presetFor } from './rules.ts';

/** What differs from the forked sandbox. Rules replace all of its rules, as `create` takes them. */
export type ForkOptions = Omit<ForkRequest, 'sandboxId' | 'count'> & CallOptions;

/** If one of the new sandboxes cannot be created, the others are destroyed and its error is thrown. */
export async function forkSandbox(
  api: Api,
  sandboxId: string,
  count: number,
  options: ForkOptions,
): Promise<SandboxInfo[]> {
  const { preset, rules, permissions } = joined<ForkOptions>(options);
  const hasRules = [preset, rules, permissions].some((each) => each !== undefined);
  const given = { ...options, ...(hasRules && { preset: presetFor(options) }) };
  const { results } = await api.fork({ sandboxId, count }, given);
  const created = results.flatMap(({ sandbox }) => sandbox ?? []);
  const failed = results.find(({ error }) => error !== undefined)?.error;
  if (failed === undefined) return created;
  await Promise.allSettled(created.map(({ id }) => api.destroySandbox({ sandboxId: id, discard: true })));
  throw errorOfBody(failed, { operation: 'fork' });
}
