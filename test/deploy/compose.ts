import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ContainerCreateOptions } from 'dockerode';
import { parse } from 'yaml';

type Values = Record<string, unknown>;
const list = (value: unknown) => value as string[];

/** The daemon's settings for each key of a compose service: https://docs.docker.com/reference/compose-file/services/ */
const KEYS: Readonly<Record<string, (value: unknown, folder: string) => Values>> = {
  init: (Init) => ({ Init }),
  restart: (Name) => ({ RestartPolicy: { Name } }),
  volumes: (value) => ({ Binds: list(value) }),
  cgroup: (CgroupnsMode) => ({ CgroupnsMode }),
  read_only: (ReadonlyRootfs) => ({ ReadonlyRootfs }),
  tmpfs: (value) => ({ Tmpfs: Object.fromEntries(list(value).map((entry) => split(entry, ':'))) }),
  devices: (value) => ({
    Devices: list(value).map((path) => ({ PathOnHost: path, PathInContainer: path, CgroupPermissions: 'rwm' })),
  }),
  cap_drop: (CapDrop) => ({ CapDrop }),
  cap_add: (CapAdd) => ({ CapAdd }),
  security_opt: (value, folder) => securityOptions(list(value), folder),
  ports: (value) => ({ PortBindings: Object.fromEntries(list(value).map(portBinding)) }),
};
/** Keys of the build, or of compose itself. */
const ELSEWHERE = ['build', 'image', 'environment', 'stop_grace_period'];

/** Returns the compose file's only service as a request to the daemon. Throws for a key that is not known here. */
export function serviceContainer(file: string): ContainerCreateOptions {
  const { services } = parse(readFileSync(file, 'utf8')) as { services: Record<string, Values> };
  const [service, ...others] = Object.values(services);
  if (!service || others.length > 0) throw new Error(`${file}: one service is expected`);
  const hostConfig: Values = {};
  for (const [key, value] of Object.entries(service)) {
    if (ELSEWHERE.includes(key)) continue;
    const translate = KEYS[key];
    if (!translate) throw new Error(`${file}: ${key} is not known to this test`);
    Object.assign(hostConfig, translate(value, dirname(file)));
  }
  const environment = Object.entries((service.environment ?? {}) as Record<string, string>);
  const ExposedPorts = Object.fromEntries(
    Object.keys((hostConfig.PortBindings ?? {}) as object).map((port) => [port, {}]),
  );
  return {
    Image: service.image as string,
    Env: environment.map(([name, value]) => `${name}=${value}`),
    ExposedPorts,
    HostConfig: hostConfig,
  };
}

function securityOptions(options: string[], folder: string): Values {
  // Like the clients of docker and compose: the profile's text is sent; this option is unknown to the daemon.
  const unconfined = options.includes('systempaths=unconfined');
  const SecurityOpt = options
    .filter((option) => option !== 'systempaths=unconfined')
    .map((option) => {
      const [name, value] = split(option, '=');
      return name === 'seccomp' ? `seccomp=${readFileSync(join(folder, value), 'utf8')}` : option;
    });
  return { SecurityOpt, ...(unconfined && { MaskedPaths: [], ReadonlyPaths: [] }) };
}

function portBinding(entry: string): [string, unknown] {
  const [HostIp, HostPort, port] = entry.split(':');
  return [`${port}/tcp`, [{ HostIp, HostPort }]];
}

function split(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return [text.slice(0, at), text.slice(at + 1)];
}
