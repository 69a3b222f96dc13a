import { describe, expect, it } from 'vitest';
import { type ContainerPlan, containerPlan } from '../../../../lib/runtime/docker/container.ts';
import type { SeccompProfile } from '../../../../lib/runtime/docker/seccomp-profile.ts';

const seccomp: SeccompProfile = {
  defaultAction: 'SCMP_ACT_ERRNO',
  defaultErrnoRet: 38,
  architectures: [],
  syscalls: [],
};

const plan: ContainerPlan = {
  spec: {
    id: 'sb_1',
    workspace: '/state/fs/sb_1',
    home: '/state/fs/sb_1.home/workspace',
    runDir: '/state/run/sb_1',
    uid: 200_007,
    image: 'ubuntu:22.04; --privileged',
    resources: { memory_bytes: 64 * 1024 ** 2, cpu_quota: 50_000, cpu_shares: 512, pids_limit: 99 },
  },
  instance: 'i1',
  imageId: 'sha256:abc',
  imageVolumes: [],
  networkMode: 'bridge',
  enableNetworking: false,
  tmpBytes: 2 ** 28,
  seccomp,
  agentDir: '/state/run/sb_1/agent',
  shown: [{ source: '/state/run/sb_1/agent/meminfo', path: '/proc/meminfo' }],
  command: ['/bin/sh', '/agent'],
};

describe('the container of a sandbox', () => {
  it('has exactly this configuration', () => {
    expect(containerPlan(plan)).toEqual({
      name: 'paddock-i1-sb_1',
      Image: 'sha256:abc',
      Labels: { 'io.paddock.instance': 'i1', 'io.paddock.sandbox': 'sb_1' },
      User: '200007:200007',
      Entrypoint: ['/bin/sh', '/agent'],
      Cmd: [],
      Env: ['HOME=/home/sandbox', 'USER=sandbox', 'LOGNAME=sandbox', 'SHELL=/bin/sh', 'LANG=C.UTF-8', 'TERM=dumb'],
      WorkingDir: '/workspace',
      Hostname: 'sandbox',
      Domainname: '',
      Healthcheck: { Test: ['NONE'] },
      StopSignal: 'SIGKILL',
      Tty: false,
      OpenStdin: false,
      AttachStdin: false,
      AttachStdout: false,
      AttachStderr: false,
      NetworkDisabled: true,
      HostConfig: {
        Privileged: false,
        CapAdd: [],
        CapDrop: ['ALL'],
        SecurityOpt: [
          'no-new-privileges:true',
          'seccomp={"defaultAction":"SCMP_ACT_ERRNO","defaultErrnoRet":38,"architectures":[],"syscalls":[]}',
        ],
        ReadonlyRootfs: true,
        Init: true,
        NetworkMode: 'none',
        Dns: ['127.0.0.1'],
        DnsOptions: ['timeout:2', 'attempts:3'],
        DnsSearch: ['.'],
        Sysctls: { 'net.ipv4.ping_group_range': '1 0' },
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
        Memory: 67_108_864,
        MemorySwap: 67_108_864,
        OomKillDisable: false,
        CpuPeriod: 100_000,
        CpuQuota: 50_000,
        CpuShares: 512,
        PidsLimit: 1123,
        OomScoreAdj: 200,
        Ulimits: [
          { Name: 'core', Soft: 0, Hard: 0 },
          { Name: 'nofile', Soft: 1024, Hard: 16_384 },
          { Name: 'memlock', Soft: 65_536, Hard: 65_536 },
          { Name: 'stack', Soft: 8_388_608, Hard: 8_388_608 },
          { Name: 'nproc', Soft: 16_384, Hard: 16_384 },
        ],
        ShmSize: 67_108_864,
        Tmpfs: {
          '/tmp': 'rw,exec,nosuid,nodev,size=268435456,mode=1777,uid=200007,gid=200007',
          '/var/tmp': 'rw,exec,nosuid,nodev,size=268435456,mode=1777,uid=200007,gid=200007',
        },
        Mounts: [
          {
            Type: 'bind',
            Source: '/state/fs/sb_1',
            Target: '/workspace',
            ReadOnly: false,
            BindOptions: { Propagation: 'rprivate' },
          },
          {
            Type: 'bind',
            Source: '/state/fs/sb_1.home/workspace',
            Target: '/home/sandbox',
            ReadOnly: false,
            BindOptions: { Propagation: 'rprivate' },
          },
          {
            Type: 'bind',
            Source: '/state/run/sb_1/agent',
            Target: '/run/agent',
            ReadOnly: true,
            BindOptions: { Propagation: 'rprivate' },
          },
          {
            Type: 'bind',
            Source: '/state/run/sb_1/agent/meminfo',
            Target: '/proc/meminfo',
            ReadOnly: true,
            BindOptions: { Propagation: 'rprivate' },
          },
          ...['passwd', 'group', 'gitconfig'].map((name) => ({
            Type: 'bind',
            Source: `/state/run/sb_1/agent/etc/${name}`,
            Target: `/etc/${name}`,
            ReadOnly: true,
            BindOptions: { Propagation: 'rprivate' },
          })),
        ],
        MaskedPaths: [
          '/proc/acpi',
          '/proc/asound',
          '/proc/cmdline',
          '/proc/config.gz',
          '/proc/iomem',
          '/proc/kallsyms',
          '/proc/kcore',
          '/proc/keys',
          '/proc/latency_stats',
          '/proc/sched_debug',
          '/proc/scsi',
          '/proc/sysrq-trigger',
          '/proc/timer_list',
          '/proc/timer_stats',
          '/sys',
        ],
        ReadonlyPaths: ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys'],
      },
    });
  });

  it('has no network if networking is not enabled, for any network mode', () => {
    for (const networkMode of ['none', 'bridge', 'host'] as const) {
      expect(containerPlan({ ...plan, networkMode }).HostConfig?.NetworkMode).toBe('none');
    }
  });

  it('has the configured network if networking is enabled', () => {
    for (const networkMode of ['none', 'bridge', 'host'] as const) {
      const { HostConfig, NetworkDisabled } = containerPlan({ ...plan, networkMode, enableNetworking: true });
      expect([HostConfig?.NetworkMode, NetworkDisabled]).toEqual([networkMode, false]);
      expect(HostConfig?.Dns).toEqual(networkMode === 'none' ? ['127.0.0.1'] : undefined);
    }
  });

  it('has no limit for a value of 0', () => {
    const resources = { memory_bytes: 0, cpu_quota: 0, cpu_shares: 0, pids_limit: 0 };
    expect(containerPlan({ ...plan, spec: { ...plan.spec, resources } }).HostConfig).toMatchObject({
      Memory: 0,
      MemorySwap: 0,
      CpuPeriod: 0,
      CpuQuota: 0,
      CpuShares: 0,
      PidsLimit: 0,
    });
  });

  it("replaces the image's volumes by tmpfs of limited size, never by disk space of the host", () => {
    const { HostConfig } = containerPlan({ ...plan, imageVolumes: ['/data', '/tmp'] });
    expect(HostConfig?.Tmpfs).toMatchObject({
      '/data': 'rw,exec,nosuid,nodev,size=67108864,mode=1777,uid=200007,gid=200007',
      '/tmp': 'rw,exec,nosuid,nodev,size=268435456,mode=1777,uid=200007,gid=200007',
    });
  });

  it.each([
    '/workspace/x',
    '/home/sandbox/x',
    '/run/agent/x',
    '/run/agent',
    '/proc/x',
    '/dev/shm',
    '/sys',
    '/',
    'relative',
    '/a/../workspace/x',
  ])('is refused for an image that declares the volume %s', (volume) => {
    expect(() => containerPlan({ ...plan, imageVolumes: [volume] })).toThrow(/volume/);
  });

  it.each(['/workspace', '/home/sandbox'])('keeps its own %s if the image declares that a volume', (path) => {
    expect(containerPlan({ ...plan, imageVolumes: [path] }).HostConfig?.Tmpfs).not.toHaveProperty(path);
  });
});
