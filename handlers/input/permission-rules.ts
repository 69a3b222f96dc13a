import { PATTERN_TYPES, PERMISSIONS } from '../../lib/messages.ts';
import { enumOf, int32, message, repeated, string } from './kinds.ts';

export const permissionRules = repeated(
  message({ pattern: string, permission: enumOf(PERMISSIONS), type: enumOf(PATTERN_TYPES), priority: int32 }),
);
