import { int32, int64, message } from './kinds.ts';

export const resourceLimits = message({
  memory_bytes: int64,
  cpu_quota: int64,
  cpu_shares: int64,
  pids_limit: int32,
});
