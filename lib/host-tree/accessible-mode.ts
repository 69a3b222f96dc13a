/**
 * The permission bits to give to a file or directory of a codebase. A server that is not root, which owns it, keeps access
 * for itself: it could not move, fill or remove a directory without it, nor read a file.
 */
export function accessibleMode(mode: number, type: 'file' | 'directory'): number {
  if (process.geteuid!() === 0) return mode;
  return mode | (type === 'file' ? 0o600 : 0o700);
}
