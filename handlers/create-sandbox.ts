import { RUNTIMES } from '../lib/messages.ts';
import { define, enumOf, int64, optional, permissionRules, resourceLimits, string, stringMap } from './define.ts';

const createSandboxRequest = {
  codebase_id: string,
  permissions: permissionRules,
  labels: stringMap,
  expires_in: int64,
  runtime: optional(enumOf(RUNTIMES)),
  image: string,
  resources: resourceLimits,
  preset: string,
  auto_commit: string,
};

export const createSandbox = define(createSandboxRequest, ({ request }, { services }) =>
  services.sandboxes.create(request),
);
