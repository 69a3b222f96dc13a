import { NotFoundError } from './errors.ts';

/** `await using` calls the method of this name. Older browsers lack the symbol. */
export const asyncDispose: typeof Symbol.asyncDispose =
  Symbol.asyncDispose ?? (Symbol.for('Symbol.asyncDispose') as typeof Symbol.asyncDispose);

/** A removal, to whose caller it is all the same if somebody else was first. A proxy's 404 names no resource, and fails. */
export async function removed(removal: Promise<void>): Promise<void> {
  try {
    await removal;
  } catch (error) {
    if (!(error instanceof NotFoundError && error.resourceType !== '')) throw error;
  }
}
