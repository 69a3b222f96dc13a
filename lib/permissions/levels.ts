import { Permission, type PermissionRule } from '../contract/messages.ts';

/** Access of a command to a path. Ordered: each level includes the lower ones. */
export type Level = 0 | 1 | 2 | 3 | 4 | 5;

/** The path does not exist for the command. */
export const NONE: Level = 0;
/** Listing and stat(2), but not open(2). */
export const VIEW: Level = 1;
/** As READ, but a file has placeholders in place of its values. Below READ: whoever asks for READ gets no original. */
export const REDACTED: Level = 2;
/**
 * As REDACTED, and changes are merged with the values at a commit (`on_write` "merge"). Below READ and WRITE: an operation
 * that does not know this level refuses.
 */
export const MERGED: Level = 3;
/** Contents, readlink(2) and execution, but no changes. */
export const READ: Level = 4;
/** Full access. */
export const WRITE: Level = 5;

/** All levels, in order. */
export const LEVELS = [NONE, VIEW, REDACTED, MERGED, READ, WRITE] as const;

const BY_PERMISSION: Readonly<Record<Permission, Level>> = {
  PERMISSION_NONE: NONE,
  PERMISSION_VIEW: VIEW,
  PERMISSION_READ: READ,
  PERMISSION_WRITE: WRITE,
};

/** The level of a permission without `view`. */
export function levelOf(permission: Permission): Level {
  return BY_PERMISSION[permission];
}

/** The level that a rule grants. */
export function levelOfRule({
  permission,
  view,
  on_write,
}: Pick<PermissionRule, 'permission' | 'view' | 'on_write'>): Level {
  if (permission !== 'PERMISSION_READ' || view !== 'redacted') return levelOf(permission);
  return on_write === 'merge' ? MERGED : REDACTED;
}

/** The permission that is shown for a level. */
export function permissionOf(level: Level): Permission {
  if (isRedactedLevel(level)) return 'PERMISSION_READ';
  return Permission[level > MERGED ? level - 2 : level]!;
}

/** Whether files of this level have placeholders in place of their values. */
export function isRedactedLevel(level: number): boolean {
  return level === REDACTED || level === MERGED;
}

/** Whether names of this level can be given, taken and replaced. What is done to their files, is another question. */
export function mayChangeName(level: Level): boolean {
  return level === WRITE || level === MERGED;
}
