import { Permission, type PermissionRule } from '../contract/messages.ts';

/** Access of a command to a path. Ordered: each level includes the lower ones. */
export type Level = 0 | 1 | 2 | 3 | 4;

/** The path does not exist for the command. */
export const NONE: Level = 0;
/** Listing and stat(2), but not open(2). */
export const VIEW: Level = 1;
/** As READ, but a file has placeholders in place of its values. Below READ: whoever asks for READ gets no original. */
export const REDACTED: Level = 2;
/** Contents, readlink(2) and execution, but no changes. */
export const READ: Level = 3;
/** Full access. */
export const WRITE: Level = 4;

/** All levels, in order. */
export const LEVELS = [NONE, VIEW, REDACTED, READ, WRITE] as const;

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
export function levelOfRule({ permission, view }: Pick<PermissionRule, 'permission' | 'view'>): Level {
  return permission === 'PERMISSION_READ' && view === 'redacted' ? REDACTED : levelOf(permission);
}

/** The permission that is shown for a level. */
export function permissionOf(level: Level): Permission {
  if (level === REDACTED) return 'PERMISSION_READ';
  return Permission[level > REDACTED ? level - 1 : level]!;
}
