import type { Node } from '../nodes/node.ts';

/** Returns a version that differs whenever contents, size or mode of a file differ. */
export function versionOf({ inode, base }: Node): string {
  const { mode, size, mtime } = inode ?? base!;
  const which = inode === undefined ? `b${base!.dev}-${base!.ino}` : `d${inode.id}-${inode.writes}`;
  return `${which}-${mode.toString(8)}-${size}-${mtime.sec}-${mtime.nsec}`;
}
