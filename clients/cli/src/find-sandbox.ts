import type { Sandbox } from '../../typescript/src/sandbox.ts';
import type { Context } from './command.ts';
import { CliError } from './errors.ts';
import { printableName } from './printable.ts';

/** The sandbox of an id, or of the beginning of one. */
export async function findSandbox({ paddock, signal }: Context, id: string): Promise<Sandbox> {
  const { sandboxes } = await paddock();
  try {
    return await sandboxes.get(id, { signal });
  } catch (error) {
    if ((error as { code?: string }).code !== 'NOT_FOUND') throw error;
    const found: string[] = [];
    for await (const each of sandboxes.list({ signal })) if (each.id.startsWith(id)) found.push(each.id);
    if (found.length === 1) return sandboxes.get(found[0]!, { signal });
    throw new CliError(
      found.length === 0
        ? `there is no sandbox ${printableName(id)}`
        : `${found.length} sandboxes begin with ${printableName(id)}`,
    );
  }
}
