import type { FileChange, FileType } from '../contract/messages.ts';
import type { Found } from './found.ts';

/** The codebase's version of a changed path, as far as it is known. */
export function baseOf({ kind, type, baseType, baseMode, local }: FileChange): Found {
  if (kind === 'added') return undefined;
  const { baseSha256 = '', baseLinkTarget = '' } = local ?? {};
  return sideOf(kind === 'deleted' ? type : baseType, baseMode, baseSha256, baseLinkTarget);
}

/** The sandbox's version. */
export function presentOf({ type, mode, local }: FileChange): Found {
  const { sha256 = '', linkTarget = '' } = local ?? {};
  return sideOf(type, mode, sha256, linkTarget);
}

/** "other" equals nothing. */
function sideOf(type: FileType, mode: number, version: string, target: string): Found {
  if (type === 'directory') return { type: 'directory' };
  if (type === 'file' && version !== '') return { type: 'file', version, executable: (mode & 0o100) !== 0 };
  return type === 'symlink' && target !== '' ? { type: 'symlink', target } : { type: 'other' };
}
