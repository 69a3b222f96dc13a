import { lackingWithoutRoot } from '../local/namespace.ts';
import { cgroupCheck } from './cgroups.ts';
import type { Check } from './check.ts';
import type { Host } from './host.ts';

/** What a server on this machine can enforce. */
export async function hostChecks(host: Host): Promise<Check[]> {
  const bwrap = await bwrapCheck(host);
  return [
    platformCheck(host),
    nodeCheck(host),
    await userCheck(host),
    fuseCheck(host),
    bwrap,
    await namespaceCheck(host, bwrap.state === 'ok'),
    cgroupCheck(host),
    await dockerCheck(host),
  ];
}

function platformCheck({ platform }: Host): Check {
  const ok = platform === 'linux';
  const found = { name: 'system', required: true, state: ok ? 'ok' : 'missing', detail: platform } as const;
  return ok ? found : { ...found, fix: 'run the server on Linux; this program can use it from here by PADDOCK_URL' };
}

/** As `engines` of the server's package. */
function nodeCheck({ nodeVersion }: Host): Check {
  const [major = 0, minor = 0] = nodeVersion.split('.').map(Number);
  const ok = major >= 24 || (major === 22 && minor >= 12) || (major === 20 && minor >= 19);
  const found = { name: 'node', required: true, state: ok ? 'ok' : 'missing', detail: nodeVersion } as const;
  return ok ? found : { ...found, fix: 'install Node 24, 22.12 or 20.19: https://nodejs.org/en/download' };
}

async function userCheck(host: Host): Promise<Check> {
  const { uid } = host;
  const found = { name: 'user', required: false } as const;
  if (uid === 0) return { ...found, state: 'ok', detail: 'root: each sandbox has a user of its own' };
  const lacking = await lackingWithoutRoot(host);
  if (lacking) {
    const detail = `user ${uid} cannot start a server: ${lacking.what}`;
    return { ...found, required: true, state: 'missing', detail, fix: lacking.command };
  }
  const detail = `user ${uid}: the local server runs in a user namespace, without limits of memory and processes`;
  return { ...found, state: 'limited', detail };
}

function fuseCheck(host: Host): Check {
  const error = host.deviceError('/dev/fuse');
  const found = { name: '/dev/fuse', required: true };
  if (error === undefined) return { ...found, state: 'ok', detail: 'the file system of workspaces can be mounted' };
  const fix =
    error === 'ENOENT'
      ? 'modprobe fuse; a container needs --device /dev/fuse --cap-add SYS_ADMIN'
      : 'sudo chmod 0666 /dev/fuse, or run the server as root';
  return { ...found, state: 'missing', detail: `it cannot be opened: ${error}`, fix };
}

const BWRAP = '/usr/bin/bwrap';

async function bwrapCheck(host: Host): Promise<Check> {
  const { ok, text } = await host.run(BWRAP, ['--version']);
  const found = { name: 'bwrap', required: true, detail: text };
  if (ok) return { ...found, state: 'ok' };
  return { ...found, state: 'missing', fix: 'apt-get install bubblewrap (or runtime.type: docker)' };
}

/** A sandbox is never root on the host, so bwrap must work as another user. */
async function namespaceCheck(host: Host, hasBwrap: boolean): Promise<Check> {
  const found = { name: 'user namespaces', required: true };
  if (host.read('/proc/sys/user/max_user_namespaces') === '0') {
    return { ...found, state: 'missing', detail: 'none are allowed', fix: 'sysctl -w user.max_user_namespaces=15000' };
  }
  if (!hasBwrap) return { ...found, state: 'limited', detail: 'not tried: there is no bwrap' };
  const attempt = [BWRAP, '--unshare-user', '--unshare-pid', '--unshare-net', '--ro-bind', '/', '/', '/bin/true'];
  const asOther = ['--reuid=65534', '--regid=65534', '--clear-groups'];
  const { ok, text } =
    host.uid === 0 ? await host.run('setpriv', [...asOther, ...attempt]) : await host.run(BWRAP, attempt.slice(1));
  if (ok) return { ...found, state: 'ok', detail: 'bwrap creates them as a user that is not root' };
  const restricted = host.read('/proc/sys/kernel/apparmor_restrict_unprivileged_userns') === '1';
  const disabled = host.read('/proc/sys/kernel/unprivileged_userns_clone') === '0';
  const fix = restricted
    ? 'as root, run scripts/setup.sh, which installs an AppArmor profile for bwrap'
    : disabled
      ? 'sysctl -w kernel.unprivileged_userns_clone=1'
      : 'a container must allow nested user namespaces (deploy/seccomp.json)';
  return { ...found, state: 'missing', detail: text, fix };
}

async function dockerCheck(host: Host): Promise<Check> {
  const { ok, text } = await host.run('docker', ['version', '--format', '{{.Server.Version}}']);
  const found = { name: 'docker', required: false };
  if (ok) return { ...found, state: 'ok', detail: `${text}: runtime.type docker can be used` };
  return { ...found, state: 'limited', detail: text, fix: 'only needed for runtime.type docker' };
}
