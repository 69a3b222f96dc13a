import { Permission } from '../contract/messages.ts';

/** Access of a command to a path. Ordered: each level includes the lower ones. */
export type Level = 0 | 1 | 2 | 3;

/** The path does not exist for the command. */
export const NONE: Level = 0;
/** Listing and stat(2), but not open(2). */
export const VIEW: Level = 1;
/** Contents, readlink(2) and execution, but no changes. */
export const READ: Level = 2;
/** Full access. */
export const WRITE: Level = 3;

export function levelOf(permission: Permission): Level {
  return Permission.indexOf(permission) as Level;
}

export function permissionOf(level: Level): Permission {
  return Permission[level];
}
