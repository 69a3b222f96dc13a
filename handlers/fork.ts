import { define, int32, int64, permissionRules, resourceLimits, string, stringMap } from './define.ts';

const forkRequest = {
  sandbox_id: string,
  count: int32,
  checkpoint: string,
  permissions: permissionRules,
  preset: string,
  labels: stringMap,
  expires_in: int64,
  resources: resourceLimits,
  auto_commit: string,
};

export const fork = define(forkRequest, async ({ request }, { services }) => ({
  results: await services.sandboxes.fork(request),
}));
