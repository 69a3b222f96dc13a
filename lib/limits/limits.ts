import type { OwnerLimits } from '../contract/messages.ts';

/** All limits of one owner; 0: no limit. */
export type EffectiveLimits = Readonly<Required<OwnerLimits>>;

/** The limits of the calls of one key, or of all keys of one owner; 0: no limit. */
export type CallLimits = Pick<
  EffectiveLimits,
  'requests_per_second' | 'request_burst' | 'commands' | 'streams' | 'creates_per_minute'
>;

/**
 * What a call is counted as, in addition to a request. `connection`: one to a program in a sandbox, which is a stream and not a
 * request: a web page makes hundreds of them. `list`: one whose answer may be long, so that it waits for a place.
 */
export type Count = 'command' | 'stream' | 'create' | 'connection' | 'list';

export const NO_LIMITS: EffectiveLimits = Object.freeze({
  requests_per_second: 0,
  request_burst: 0,
  commands: 0,
  streams: 0,
  creates_per_minute: 0,
  codebases: 0,
  stored_bytes: 0,
  delta_bytes: 0,
  sandboxes: 0,
  memory_bytes: 0,
  cpu_quota: 0,
});
