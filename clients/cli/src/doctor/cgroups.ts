import { join } from 'node:path';
import type { Check } from './check.ts';
import type { Host } from './host.ts';

const NEEDED = ['cpu', 'memory', 'pids'];
const ROOT = '/sys/fs/cgroup';

/** Whether limits of memory, CPU and processes can be enforced. */
export function cgroupCheck(host: Host): Check {
  const unified = host.read(`${ROOT}/cgroup.controllers`) !== undefined;
  const { version, has } = unified ? controllersOfV2(host) : controllersOfV1(host);
  const lacking = NEEDED.filter((name) => !has.includes(name));
  const detail = `${version}: ${has.length > 0 ? has.join(', ') : 'none'}`;
  if (lacking.length === 0) return { name: 'cgroups', required: false, state: 'ok', detail };
  return {
    name: 'cgroups',
    required: false,
    state: 'limited',
    detail: `${detail}; without ${lacking.join(', ')} such limits are refused, or are those of setrlimit(2)`,
    fix: unified
      ? 'run the server as root, or with Delegate=yes in its systemd unit; a container needs a writable /sys/fs/cgroup'
      : `mount the controllers below ${ROOT}, writable for the server`,
  };
}

interface Found {
  version: string;
  has: readonly string[];
}

/** Of the cgroup of this process: the server makes its own below it. */
function controllersOfV2(host: Host): Found {
  const path = /^0::(\/.*)$/m.exec(host.read('/proc/self/cgroup') ?? '')?.[1] ?? '/';
  const own = join(ROOT, path);
  const controllers = (host.read(join(own, 'cgroup.controllers')) ?? '').split(' ');
  const writable = host.isWritable(own) && host.isWritable(join(own, 'cgroup.procs'));
  return { version: writable ? 'v2, delegated' : 'v2, not writable', has: writable ? only(controllers) : [] };
}

function controllersOfV1(host: Host): Found {
  const lines = (host.read('/proc/self/cgroup') ?? '').split('\n');
  const controllers = lines.flatMap((line) => {
    const [, names = '', path = '/'] = line.split(':');
    const writable = host.isWritable(join(ROOT, names, path)) || host.isWritable(join(ROOT, names));
    return writable ? names.split(',') : [];
  });
  return { version: 'v1', has: only(controllers) };
}

const only = (controllers: readonly string[]): string[] => NEEDED.filter((name) => controllers.includes(name));
