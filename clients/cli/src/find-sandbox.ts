import type { Sandbox } from '../../typescript/src/sandbox.ts';
import type { Context } from './command.ts';
import { sandboxOf } from './resolve.ts';

/** The sandbox that an argument names. */
export async function findSandbox({ paddock, signal }: Context, given: string): Promise<Sandbox> {
  return sandboxOf(await paddock(), given, { signal });
}
