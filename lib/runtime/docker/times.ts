export interface DockerTimes {
  /** One call to the daemon that makes or runs nothing. */
  callMs: number;
  /** Pulling an image that the daemon has not. */
  pullMs: number;
  /** Each of creating and starting a container: a busy daemon does hundreds one after the other. */
  startMs: number;
  /** Removing a container whose processes are gone already; one that takes longer is left to the daemon and a sweep. */
  removeMs: number;
  /** Between two tries to reach a daemon that is away. */
  retryMs: number;
}

/** CreateSandbox so never takes longer than one call, one pull, a create and a start, and the executor's own limit. */
export const TIMES: DockerTimes = { callMs: 10_000, pullMs: 120_000, startMs: 30_000, removeMs: 4000, retryMs: 1000 };
