import { isAbsolute, join, normalize } from 'node:path';
import type { ContainerCreateOptions, HostConfig } from 'dockerode';
import type { ResourceLimits } from '../../contract/messages.ts';
import { ServiceError } from '../../errors.ts';
import { cpuBandwidth } from '../cgroup/cpu-bandwidth.ts';
import { withinOwner } from '../cgroup/owner-group.ts';
import { AGENT_DIR, WORKSPACE } from '../executor/places.ts';
import type { SandboxSpec } from '../runtime.ts';
import { ENVIRONMENT, HOME, SHM_BYTES } from '../sandbox-environment.ts';
import type { ShownLimits } from '../shown/shown-limits.ts';
import type { SeccompProfile } from './seccomp-profile.ts';
import { USER_FILES } from './user-files.ts';

export type NetworkMode = 'none' | 'bridge' | 'host';

export interface ContainerPlan {
  spec: SandboxSpec;
  /** It is made for no sandbox yet: it has no label of one, because no label can be changed later. */
  readyOnly?: boolean;
  /** Identifies the containers of this server among all on the daemon. */
  instance: string;
  /** Content digest of the image. */
  imageId: string;
  /** Paths that the image declares as VOLUME. */
  imageVolumes: readonly string[];
  networkMode: NetworkMode;
  enableNetworking: boolean;
  /** Size of /tmp and of /var/tmp. */
  tmpBytes: number;
  seccomp: SeccompProfile;
  /** Host directory of the executor's agent and its FIFOs; its `etc` holds the USER_FILES. */
  agentDir: string;
  /** Its own limits, in place of the machine's. */
  shown: ShownLimits['files'];
  /** The container's main process, started by docker-init. */
  command: readonly string[];
}

export const INSTANCE_LABEL = 'io.paddock.instance';
export const SANDBOX_LABEL = 'io.paddock.sandbox';

const MIB = 1024 ** 2;
const VOLUME_BYTES = 64 * MIB;
/**
 * Processes of the service in addition to the tenant's. pids_limit itself applies to the cgroup of commands
 * (ContainerCgroup), where a fork bomb cannot block the agent; this limit covers both.
 */
const SERVICE_PIDS = 1024;

/** All of /sys, and the files of /proc with information about the machine: Docker's default list and additions. */
const MASKED_PATHS = [
  ...['acpi', 'asound', 'cmdline', 'config.gz', 'iomem', 'kallsyms', 'kcore', 'keys', 'latency_stats', 'sched_debug'],
  ...['scsi', 'sysrq-trigger', 'timer_list', 'timer_stats'],
]
  .map((name) => `/proc/${name}`)
  .concat('/sys');
/** When memory is short, the kernel kills sandboxes first. */
const OOM_SCORE_ADJ = 200;
const ULIMITS: readonly [name: string, soft: number, hard: number][] = [
  ['core', 0, 0],
  ['nofile', 1024, 16_384],
  ['memlock', 64 * 1024, 64 * 1024],
  ['stack', 8 * MIB, 8 * MIB],
  // Per host uid; the effective limit is PidsLimit.
  ['nproc', 16_384, 16_384],
];

/**
 * Names are answered at this address once the network of the sandbox is open. Docker permits programs to send ICMP, which the
 * kernel would answer for addresses that only seem to be others.
 */
const OF_NO_NETWORK = {
  Dns: ['127.0.0.1'],
  DnsOptions: ['timeout:2', 'attempts:3'],
  DnsSearch: ['.'],
  Sysctls: { 'net.ipv4.ping_group_range': '1 0' },
};

const READONLY_PATHS = ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys'];

/** PATH is the image's (or the daemon's default). The entrypoint removes other variables of the image. */
const ENV = Object.entries(ENVIRONMENT)
  .filter(([name]) => name !== 'PATH')
  .map(([name, value]) => `${name}=${value}`);

/**
 * Name of a sandbox's container. It is known before the request, unlike the id, so that a container left by an
 * unanswered request can be found.
 */
export function containerName(instance: string, sandboxId: string): string {
  return `paddock-${instance}-${sandboxId}`;
}

/** Whether a container of this instance may have the name. */
export function isOwnName(instance: string, name: string): boolean {
  return name.startsWith(containerName(instance, ''));
}

/** The limits of a container, as the daemon has them. 0: none. */
export function containerLimits({ memory_bytes, cpu_quota, cpu_shares, pids_limit }: ResourceLimits) {
  const cpu = cpuBandwidth(cpu_quota);
  return {
    Memory: memory_bytes,
    MemorySwap: memory_bytes,
    CpuPeriod: cpu.period,
    CpuQuota: cpu.quota,
    CpuShares: cpu_shares,
    PidsLimit: pids_limit > 0 ? pids_limit + SERVICE_PIDS : 0,
  };
}

/** Builds the container options of a sandbox. The only tenant-controlled values are the limits and the image id. */
export function containerPlan(plan: ContainerPlan): ContainerCreateOptions {
  const { spec, instance } = plan;
  const { uid } = spec;
  return {
    name: containerName(instance, spec.id),
    Image: plan.imageId,
    Labels: { [INSTANCE_LABEL]: instance, ...(plan.readyOnly !== true && { [SANDBOX_LABEL]: spec.id }) },
    // With an explicit gid, the image's /etc/group adds no supplementary groups.
    User: `${uid}:${uid}`,
    Entrypoint: [...plan.command],
    Cmd: [],
    Env: ENV,
    WorkingDir: WORKSPACE,
    Hostname: 'sandbox',
    Domainname: '',
    Healthcheck: { Test: ['NONE'] },
    StopSignal: 'SIGKILL',
    Tty: false,
    OpenStdin: false,
    AttachStdin: false,
    AttachStdout: false,
    AttachStderr: false,
    NetworkDisabled: !plan.enableNetworking,
    HostConfig: hostConfig(plan),
  };
}

/** CgroupnsMode is missing in @types/dockerode. */
function hostConfig(plan: ContainerPlan): HostConfig & { CgroupnsMode: 'private' } {
  const { resources, owner } = plan.spec;
  return {
    Privileged: false,
    CapAdd: [],
    CapDrop: ['ALL'],
    SecurityOpt: ['no-new-privileges:true', `seccomp=${JSON.stringify(plan.seccomp)}`],
    ReadonlyRootfs: true,
    Init: true,
    // All namespaces are set explicitly, so that no default of the daemon can share one. userns-remap is disabled
    // because it would change the uid that the workspace's file system accepts.
    NetworkMode: plan.enableNetworking ? plan.networkMode : 'none',
    ...(plan.enableNetworking && plan.networkMode !== 'none' ? {} : OF_NO_NETWORK),
    IpcMode: 'private',
    PidMode: '',
    UTSMode: '',
    UsernsMode: 'host',
    CgroupnsMode: 'private',
    GroupAdd: [],
    Devices: [],
    DeviceCgroupRules: [],
    PortBindings: {},
    PublishAllPorts: false,
    RestartPolicy: { Name: 'no' },
    AutoRemove: false,
    LogConfig: { Type: 'none', Config: {} },
    ...containerLimits(withinOwner(resources, owner)),
    OomKillDisable: false,
    OomScoreAdj: OOM_SCORE_ADJ,
    Ulimits: ULIMITS.map(([Name, Soft, Hard]) => ({ Name, Soft, Hard })),
    ShmSize: SHM_BYTES,
    Tmpfs: {
      ...volumesAsTmpfs(plan),
      '/tmp': tmpfs(plan.tmpBytes, '1777', plan.spec.uid),
      '/var/tmp': tmpfs(plan.tmpBytes, '1777', plan.spec.uid),
    },
    // Not Binds: for a missing source, the daemon would create a directory on the host as root.
    Mounts: [
      bind(plan.spec.workspace, WORKSPACE, false),
      bind(plan.spec.home, HOME, false),
      bind(plan.agentDir, AGENT_DIR, true),
      ...plan.shown.map(({ source, path }) => bind(source, path, true)),
      ...USER_FILES.map((name) => bind(join(plan.agentDir, 'etc', name), `/etc/${name}`, true)),
    ],
    MaskedPaths: MASKED_PATHS,
    ReadonlyPaths: READONLY_PATHS,
  };
}

function bind(Source: string, Target: string, ReadOnly: boolean) {
  return { Type: 'bind' as const, Source, Target, ReadOnly, BindOptions: { Propagation: 'rprivate' as const } };
}

/**
 * Owned by the sandbox's uid: runc before 1.2 gives a tmpfs the mode of the image's directory instead of the requested
 * one.
 */
function tmpfs(bytes: number, mode: string, uid: number): string {
  return `rw,exec,nosuid,nodev,size=${bytes},mode=${mode},uid=${uid},gid=${uid}`;
}

/**
 * Replaces the image's volumes by tmpfs of limited size, so that they use no host disk. A volume inside a path of the
 * service is refused: the daemon would create its directory in the tenant's tree.
 */
function volumesAsTmpfs({ imageVolumes, spec: { uid } }: ContainerPlan): Record<string, string> {
  const ours = [WORKSPACE, HOME, AGENT_DIR, '/proc', '/sys', '/dev'];
  const volumes: Record<string, string> = {};
  for (const path of imageVolumes) {
    if (path === WORKSPACE || path === HOME) continue;
    const within = ours.some((place) => path === place || path.startsWith(`${place}/`));
    if (within || path === '/' || !isAbsolute(path) || normalize(path) !== path) {
      throw new ServiceError('FAILED_PRECONDITION', `image: its volume ${JSON.stringify(path)} is not allowed`);
    }
    volumes[path] = tmpfs(VOLUME_BYTES, '1777', uid);
  }
  return volumes;
}
