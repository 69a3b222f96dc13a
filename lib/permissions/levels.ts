import { Permission } from '../messages.ts';

/** What a command may do with a path. Ordered: each level includes those below it. */
export type Level = 0 | 1 | 2 | 3;

/** The path does not exist for the command. */
export const NONE: Level = 0;
/** Listed and stat'able, not opened. */
export const VIEW: Level = 1;
/** Contents, readlink, execute; no change of any kind. */
export const READ: Level = 2;
/** Everything. */
export const WRITE: Level = 3;

export function levelOf(permission: Permission): Level {
  return Permission.indexOf(permission) as Level;
}

export function permissionOf(level: Level): Permission {
  return Permission[level];
}
