/** Bytes that are no object of this format. The message says what is wrong, and where. */
export class FormatError extends Error {
  override readonly name = 'FormatError';
}

/** Only for plain texts: one that is put together costs more than all checks of an entry, also where nothing is wrong. */
export function require(holds: boolean, why: string): asserts holds {
  if (!holds) throw new FormatError(why);
}
