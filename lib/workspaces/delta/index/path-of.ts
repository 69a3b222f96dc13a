import { type ByteString, joinNames } from '../../../byte-string.ts';
import type { Inode } from './inode.ts';

/** Returns the path of an inode by its first link. */
export function pathOf(inode: Inode): ByteString {
  const names: ByteString[] = [];
  for (let link = inode.firstLink; link !== undefined; link = link.dir.firstLink) names.push(link.name);
  return joinNames(names.reverse());
}
