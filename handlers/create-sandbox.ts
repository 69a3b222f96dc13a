import { PATTERN_TYPES, PERMISSIONS, RUNTIMES } from '../lib/messages.ts';
import { define, enumOf, int32, int64, message, optional, repeated, string, stringMap } from './define.ts';

const permissionRule = {
  pattern: string,
  permission: enumOf(PERMISSIONS),
  type: enumOf(PATTERN_TYPES),
  priority: int32,
};

const resourceLimits = {
  memory_bytes: int64,
  cpu_quota: int64,
  cpu_shares: int64,
  pids_limit: int32,
};

const createSandboxRequest = {
  codebase_id: string,
  permissions: repeated(message(permissionRule)),
  labels: stringMap,
  expires_in: int64,
  runtime: optional(enumOf(RUNTIMES)),
  image: string,
  resources: message(resourceLimits),
};

export const createSandbox = define(createSandboxRequest, ({ request }, { services }) =>
  services.sandboxes.create(request),
);
