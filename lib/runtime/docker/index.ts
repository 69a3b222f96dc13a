import { Descriptors } from '../../descriptors.ts';
import { ServiceError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { Shares } from '../../shares.ts';
import { REQUEST_BYTES } from '../agent-mount.ts';
import { newScratch } from '../executor/pipe-reader.ts';
import { newReadPaces } from '../executor/read-pace.ts';
import { prepareSandbox } from '../prepared-sandbox.ts';
import type { Runtime } from '../runtime.ts';
import { TMP_BYTES } from '../sandbox-environment.ts';
import { Machine } from '../shown/machine.ts';
import { TerminalLimit } from '../terminal-limit/terminal-limit.ts';
import { type DockerEnvironment, daemonAddress } from './address.ts';
import { AgentDirs } from './agent-dirs.ts';
import type { NetworkMode } from './container.ts';
import { clearGroups } from './container-cgroup.ts';
import { Daemon } from './daemon.ts';
import { requireCgroupfs } from './default-parent.ts';
import { instanceId } from './instance.ts';
import { DockerSandbox } from './launch.ts';
import { OwnContainers } from './own-containers.ts';
import { OwnerCgroups } from './owner-cgroups.ts';
import { probeDaemon } from './probe.ts';
import { markReady, unmarkReady } from './ready-mark.ts';
import { seccompProfile } from './seccomp-profile.ts';
import { type DockerTimes, TIMES } from './times.ts';
import { ImageUserFiles } from './user-files.ts';
import { ContainerWatch } from './watch.ts';

export interface DockerOptions {
  /** `runtime.docker.host`; if empty, DOCKER_HOST of `environment`, else the default socket. */
  host: string;
  environment: DockerEnvironment;
  networkMode: NetworkMode;
  enableNetworking: boolean;
  /** Size of /tmp; absent: TMP_BYTES. */
  tmpBytes?: number;
  /** The server's state directory. A name stored there labels its containers, also after a restart. */
  stateDir: string;
  /** The descriptor budget of the process; absent: one of this runtime's own. */
  descriptors?: Descriptors;
  /** Milliseconds between SIGTERM and the kill of what is stopped; absent: it is killed at once. */
  stopGraceMs?: number;
  log: Log;
  times?: DockerTimes;
}

/**
 * Creates the Docker runtime: sandboxes as containers of a Docker daemon on this machine
 * (https://docs.docker.com/reference/api/engine/). The server must be root there, because it kills commands through the
 * containers' cgroups. Throws FAILED_PRECONDITION on an unsupported architecture.
 */
export function createDockerRuntime(options: DockerOptions): Runtime {
  const { stateDir, log, times = TIMES } = options;
  if (process.arch !== 'x64' && process.arch !== 'arm64') {
    throw new ServiceError('FAILED_PRECONDITION', `docker runtime: no seccomp profile for ${process.arch}`);
  }
  const instance = instanceId(stateDir);
  const daemon = new Daemon(daemonAddress(options.host, options.environment));
  const agentDirs = new AgentDirs(instance);
  const groupsName = `paddock-docker-${instance}`;
  const shared = {
    ...{ daemon, instance, times, groupsName, agentDirs: agentDirs.path },
    ...{ networkMode: options.networkMode, enableNetworking: options.enableNetworking },
    tmpBytes: options.tmpBytes ?? TMP_BYTES,
    seccomp: seccompProfile(process.arch),
    containers: new OwnContainers(daemon, instance, times, log),
    owners: new OwnerCgroups(groupsName, stateDir),
    watch: new ContainerWatch(daemon, instance, times, log),
    userFiles: new ImageUserFiles(daemon),
    scratch: newScratch(),
    paces: newReadPaces(),
    machine: new Machine(),
    stopGraceMs: options.stopGraceMs ?? 0,
    room: new Shares<object>(REQUEST_BYTES),
    descriptors: options.descriptors ?? new Descriptors(),
    terminals: new TerminalLimit(log),
  };
  return {
    async probe() {
      await probeDaemon(daemon, times, log);
      await shared.terminals.probe();
    },
    async launch(spec) {
      if (spec.owner !== undefined) await requireCgroupfs(daemon, times);
      return DockerSandbox.launch(spec, { ...shared, fifos: await agentDirs.open() });
    },
    async prepare(spec) {
      markReady(stateDir);
      const opened = { ...shared, fifos: await agentDirs.open() };
      return prepareSandbox(spec, (whole) => DockerSandbox.launch(whole, opened));
    },
    async reclaim() {
      await shared.containers.reclaim();
      unmarkReady(stateDir);
      await clearGroups(groupsName);
      await shared.owners.clear();
      await agentDirs.clear();
    },
    async close() {
      if (shared.containers.areKnown) unmarkReady(stateDir);
      shared.terminals.close();
      await clearGroups(groupsName);
      await shared.owners.clear();
      await agentDirs.clear();
    },
  };
}
