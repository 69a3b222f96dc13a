import { memberHead, memberPadding, tarEnd } from '../../../../lib/archive/tar.ts';
import { fromText } from '../../../../lib/byte-string.ts';

export type Content = string | { to: string; hard?: boolean } | 'directory';
export type Members = [path: string, content: Content, mode?: number, mtime?: number][];

/** An archive with these members; a text is a file's content. */
export function archiveOf(members: Members): Buffer {
  const parts = members.flatMap(([path, content, mode = 0o644, mtime = 1]) => {
    const head = { path: fromText(path), mode, mtime: { sec: mtime, nsec: 5 }, size: 0 };
    if (content === 'directory') return [memberHead({ ...head, type: 'directory' })];
    if (typeof content === 'object')
      return [memberHead({ ...head, type: content.hard ? 'link' : 'symlink', target: fromText(content.to) })];
    const bytes = Buffer.from(content);
    return [memberHead({ ...head, type: 'file', size: bytes.length }), bytes, memberPadding(bytes.length)];
  });
  return Buffer.concat([...parts, tarEnd()]);
}
