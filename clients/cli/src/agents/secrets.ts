import { randomBytes } from 'node:crypto';
import type { Api, Paddock } from 'paddock-sandbox';
import type { HeldKey } from './keys.ts';

/** Secrets of one run, which go with its sandbox. A secret that the user has named `agent-…` is none of these. */
const OF_AGENTS = /^agent-.+-[0-9a-f]{8}-[1-9]\d*$/;
/** A sandbox that is kept lives for a day without use; of one that the server removed, the secrets are left. */
const LEFT_MS = 2 * 24 * 3600 * 1000;
/** What a placeholder needs after its shape. */
const LEAST_RANDOM = 16;

export const namesOfAgents = (secrets: readonly { name: string }[]): string[] =>
  secrets.map(({ name }) => name).filter((name) => OF_AGENTS.test(name));

/** Those that a sandbox uses stay, like all if the caller may not remove them. */
export async function removeSecrets(
  api: Api,
  names: readonly string[],
  options: { signal?: AbortSignal } = {},
): Promise<void> {
  await Promise.all(names.map((name) => api.deleteSecret({ name }, options).catch(() => undefined)));
}

/** Stores keys as secrets, whose names are returned in their order: all, or none. Those that were left before are removed. */
export async function storeKeys(
  { api, secrets }: Paddock,
  agent: string,
  keys: readonly HeldKey[],
  signal: AbortSignal,
): Promise<string[]> {
  if (keys.length === 0) return [];
  const before = Date.now() - LEFT_MS;
  const left: { name: string }[] = [];
  for await (const each of secrets.list({ signal })) {
    if (each.usedBy.length === 0 && each.updatedAt.getTime() < before) left.push(each);
  }
  await removeSecrets(api, namesOfAgents(left), { signal });
  const run = randomBytes(4).toString('hex');
  const names = keys.map((_, index) => `agent-${agent}-${run}-${index + 1}`);
  try {
    for (const [index, { variable, ...secret }] of keys.entries()) {
      const keepLength = secret.value.length >= secret.shape.length + LEAST_RANDOM;
      await secrets.put(names[index]!, { ...secret, keepLength }, { signal });
    }
  } catch (error) {
    await removeSecrets(api, names);
    throw error;
  }
  return names;
}
