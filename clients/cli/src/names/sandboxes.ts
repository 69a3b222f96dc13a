import { type Paddock, PermissionDeniedError, type Sandbox, type SandboxInfo } from 'paddock-sandbox';
import { CliError } from '../command-line/errors.ts';

interface Signal {
  signal: AbortSignal;
}

/** "sb_", then 25 letters and digits. Anything shorter is the beginning of an id, or a name. */
const WHOLE_ID = /^sb_[a-z0-9]{25,}$/;

/** The label that is a sandbox's name. */
export const NAME_LABEL = 'name';

/** A sandbox by its id, the beginning of its id with or without "sb_", or its label "name". Ambiguous ones are refused. */
export async function sandboxOf(paddock: Paddock, given: string, { signal }: Signal): Promise<Sandbox> {
  const id = await sandboxIdOf(paddock, given, { signal });
  return paddock.sandboxes.get(id, { signal });
}

export async function sandboxIdOf(paddock: Paddock, given: string, { signal }: Signal): Promise<string> {
  if (WHOLE_ID.test(given)) return given;
  if (given === '') throw new CliError('the id of the sandbox is empty');
  const found: { id: string; name: string | undefined }[] = [];
  for await (const { id, labels } of listed(paddock, { signal })) {
    const name = labels[NAME_LABEL];
    if (id === given || name === given || id.startsWith(given) || id.startsWith(`sb_${given}`))
      found.push({ id, name });
  }
  const exact = found.filter(({ id, name }) => id === given || name === given);
  const chosen = exact.length > 0 ? exact : found;
  if (chosen.length > 1) throw new CliError(`${JSON.stringify(given)} is ambiguous: ${idsOf(chosen)}`);
  if (chosen.length === 0) throw new CliError(`there is no sandbox ${JSON.stringify(given)}: see paddock ls`);
  return chosen[0]!.id;
}

const SHOWN = 5;

function idsOf(found: readonly { id: string }[]): string {
  const ids = found.slice(0, SHOWN).map(({ id }) => id);
  return `${ids.join(', ')}${found.length > SHOWN ? `, and ${found.length - SHOWN} more` : ''}`;
}

/** The sandboxes of the caller. An agent's key cannot list them: it has one. */
export async function* listed(
  paddock: Paddock,
  { signal }: Signal,
): AsyncGenerator<SandboxInfo | Pick<SandboxInfo, 'id' | 'labels'>, void, void> {
  try {
    yield* paddock.api.listSandboxes({}, { signal });
  } catch (error) {
    if (!(error instanceof PermissionDeniedError)) throw error;
    const { sandboxId } = await paddock.caller({ signal });
    if (sandboxId === '') throw error;
    yield { id: sandboxId, labels: {} };
  }
}
