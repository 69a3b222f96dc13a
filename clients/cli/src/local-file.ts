import { stat } from 'node:fs/promises';
import { CliError } from './errors.ts';

/** Bytes of an archive. */
export async function sizeOf(file: string): Promise<number> {
  const found = await stat(file).catch((error: Error) => {
    throw new CliError(`the archive cannot be read: ${error.message}`);
  });
  if (!found.isFile()) throw new CliError(`${file} is no file: give the archive as standard input`);
  return found.size;
}
