import { ServiceError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { checkCgroups } from './container-cgroup.ts';
import type { Daemon } from './daemon.ts';
import type { DockerTimes } from './times.ts';

/**
 * First runc version without CVE-2025-31133, -52565, -52881
 * (https://github.com/opencontainers/runc/security/advisories).
 */
const SAFE_RUNC = [1, 2, 8] as const;
/** Docker 20.10, which has cgroup namespaces and errnoRet in seccomp profiles. */
const LEAST_API = [1, 41] as const;

/**
 * Resolves if sandboxes can be created. Known weaknesses are logged once. Rejects with FAILED_PRECONDITION or
 * UNAVAILABLE.
 */
export async function probeDaemon(daemon: Daemon, times: DockerTimes, log: Log): Promise<void> {
  if (process.getuid?.() !== 0) {
    throw new ServiceError(
      'FAILED_PRECONDITION',
      'docker runtime: the server must run as root, to end commands by cgroup',
    );
  }
  checkCgroups();
  const version = await daemon.call({
    doing: 'asking its version',
    limitMs: times.callMs,
    ask: async (docker) => {
      const answer = await docker.version();
      if (typeof answer.ApiVersion !== 'string') throw new Error('its answer has no API version');
      return answer;
    },
  });
  if (version.Os !== 'linux' || before(version.ApiVersion, LEAST_API)) {
    throw new ServiceError(
      'FAILED_PRECONDITION',
      `docker runtime: the daemon at ${daemon.address} is Docker ${version.Version} for ${version.Os}: 20.10 or later for linux is needed`,
    );
  }
  const runc = version.Components?.find(({ Name }) => Name === 'runc')?.Version;
  log.info('docker runtime', { daemon: daemon.address, docker: version.Version, runc });
  if (runc !== undefined && before(runc, SAFE_RUNC)) {
    log.warn(
      'runc of this Docker daemon has known vulnerabilities (fixed in 1.2.8); a distribution may have backported the fixes',
      {
        runc,
      },
    );
  }
}

function before(version: string, least: readonly number[]): boolean {
  const parts = version.split(/[.+~-]/).map(Number);
  for (const [index, wanted] of least.entries()) {
    const part = parts[index] ?? 0;
    if (part !== wanted) return !(part > wanted);
  }
  return false;
}
