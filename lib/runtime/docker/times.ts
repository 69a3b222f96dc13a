export interface DockerTimes {
  /** Limit in milliseconds for a call that creates and starts nothing. */
  callMs: number;
  /** Limit for pulling an image. */
  pullMs: number;
  /** Limit for each of creating and starting a container: a busy daemon processes hundreds one after the other. */
  startMs: number;
  /** Limit for removing a container whose processes have exited; a slower removal is left to the daemon and a sweep. */
  removeMs: number;
  /** Interval of attempts to reach an unavailable daemon. */
  retryMs: number;
}

/** CreateSandbox takes at most one call, one pull, a create, a start and the executor's own limit. */
export const TIMES: DockerTimes = { callMs: 10_000, pullMs: 120_000, startMs: 30_000, removeMs: 4000, retryMs: 1000 };
