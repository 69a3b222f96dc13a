import { RUNTIMES } from '../lib/messages.ts';
import { define, enumOf, int32, int64, message, optional, permissionRules, string, stringMap } from './define.ts';

const resourceLimits = {
  memory_bytes: int64,
  cpu_quota: int64,
  cpu_shares: int64,
  pids_limit: int32,
};

const createSandboxRequest = {
  codebase_id: string,
  permissions: permissionRules,
  labels: stringMap,
  expires_in: int64,
  runtime: optional(enumOf(RUNTIMES)),
  image: string,
  resources: message(resourceLimits),
  preset: string,
  auto_commit: string,
};

export const createSandbox = define(createSandboxRequest, ({ request }, { services }) =>
  services.sandboxes.create(request),
);
