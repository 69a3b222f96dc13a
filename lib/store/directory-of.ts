import { DirectoryObject, HEADER, MAGIC } from '../trees/format/directory-object.ts';
import { FormatError } from '../trees/format/format-error.ts';

/** The digest says that these bytes were stored; that they are a directory is what the tree says that names them. */
export function directoryOf(bytes: Buffer): DirectoryObject {
  if (bytes.length < HEADER.bytes || bytes.toString('latin1', 0, MAGIC.length) !== MAGIC)
    throw new FormatError('an object that is no directory');
  return new DirectoryObject(bytes);
}
