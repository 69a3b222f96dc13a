import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import Docker from 'dockerode';
import { unmount } from '../../lib/linux/mount.ts';
import { hasEnded } from '../process-status.ts';
import { mountsUnder } from './mounts.ts';

/**
 * A private Docker daemon: Debian's docker.io with data, state, socket, cgroups and network namespace that
 * nobody else uses. `stop` leaves nothing of it, even if the daemon was killed before.
 */
export interface Daemon {
  /** For `runtime.docker.host`. */
  readonly host: string;
  readonly socketPath: string;
  readonly root: string;
  readonly docker: Docker;
  /** Pid of dockerd, in whose network namespace ports are published. */
  readonly pid: number;
  /** Kills the daemon: containers continue to run until it is started again. */
  kill(): Promise<void>;
  /** SIGSTOP and SIGCONT: a stopped daemon accepts connections but answers nothing. */
  pause(): void;
  resume(): void;
  /** Stops the daemon as its service manager would, with its running containers. */
  shutdown(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface DaemonOptions {
  /** Additional arguments, for example `--tlsverify`. With `--host tcp://…` set `ownNetwork: false`. */
  args?: string[];
  /** Use a separate network namespace with its own docker0. Default true: the machine's network does not change. */
  ownNetwork?: boolean;
}

const STARTED_WITHIN_MS = 120_000;

export async function startDaemon({ args = [], ownNetwork = true }: DaemonOptions = {}): Promise<Daemon> {
  const root = await mkdtemp(join(tmpdir(), 'paddock-dockerd-'));
  const socketPath = join(root, 'docker.sock');
  // Replaces /etc/docker/daemon.json, which would be read otherwise.
  await writeFile(join(root, 'daemon.json'), '{}');
  // `host` undefined: dockerode would otherwise take it from DOCKER_HOST.
  const docker = new Docker({ socketPath, ...({ host: undefined } as object) });
  let child: ChildProcess | undefined;

  async function start(): Promise<void> {
    child = spawnDaemon(root, socketPath, args, ownNetwork);
    await answers(docker, child, root);
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    const ending = child;
    child = undefined;
    if (ending === undefined || ending.exitCode !== null || ending.signalCode !== null) return;
    const exit = new Promise((resolve) => ending.once('exit', resolve));
    ending.kill('SIGCONT');
    ending.kill(signal);
    await exit;
  }

  async function stop(): Promise<void> {
    child?.kill('SIGCONT');
    // A container that ignores SIGTERM would delay the daemon's shutdown by ten seconds.
    const containers = await docker.listContainers({ all: true }).catch(() => []);
    await Promise.allSettled(containers.map(({ Id }) => docker.getContainer(Id).remove({ force: true })));
    await end('SIGTERM');
    await killLeftovers(root);
    for (const mountPoint of mountsUnder(root)) await unmount(mountPoint, 'detach');
    await rm(root, { recursive: true, force: true });
    await removeCgroups(cgroupParent(root));
  }

  try {
    await start();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    host: `unix://${socketPath}`,
    socketPath,
    root,
    docker,
    get pid() {
      return child?.pid ?? -1;
    },
    async kill() {
      await end('SIGKILL');
      // containerd dies with dockerd. If init is slow to reap it, the next dockerd would treat the zombie as alive.
      await rm(join(root, 'exec/containerd/containerd.pid'), { force: true });
    },
    pause: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
    shutdown: () => end('SIGTERM'),
    start,
    stop,
  };
}

const cgroupParent = (root: string) => `/${basename(root)}`;

function spawnDaemon(root: string, socketPath: string, args: string[], ownNetwork: boolean): ChildProcess {
  // pdeathsig: the daemon ends with a killed test runner.
  const argv = [
    ...['setpriv', '--pdeathsig', 'TERM', '--'],
    ...(ownNetwork ? ['unshare', '--net', '--', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh'] : []),
    ...['dockerd', '--data-root', join(root, 'data'), '--exec-root', join(root, 'exec')],
    ...['--pidfile', join(root, 'docker.pid'), '--config-file', join(root, 'daemon.json')],
    ...['--host', `unix://${socketPath}`, '--cgroup-parent', cgroupParent(root), '--shutdown-timeout', '2'],
    ...(ownNetwork ? [] : ['--bridge', 'none', '--iptables=false', '--ip6tables=false']),
    ...args,
  ];
  const log = createWriteStream(join(root, 'dockerd.log'), { flags: 'a' });
  const child = spawn(argv[0] as string, argv.slice(1), { stdio: ['ignore', 'pipe', 'pipe'], cwd: '/' });
  child.stdout?.pipe(log, { end: false });
  child.stderr?.pipe(log, { end: false });
  child.once('close', () => log.end());
  child.once('error', (error) => log.end(`${error.message}\n`));
  return child;
}

async function answers(docker: Docker, child: ChildProcess, root: string): Promise<void> {
  const deadline = Date.now() + STARTED_WITHIN_MS;
  let ended = false;
  child.once('close', () => {
    ended = true;
  });
  child.once('error', () => {
    ended = true;
  });
  for (;;) {
    const up = await docker.ping().then(
      () => true,
      () => false,
    );
    if (up) return;
    if (ended || Date.now() > deadline) {
      const words = await readFile(join(root, 'dockerd.log'), 'utf8').catch(() => '');
      throw new Error(`dockerd did not start (Debian's package docker.io must be installed):\n${words.slice(-4000)}`);
    }
    await delay(20);
  }
}

/** Returns containerd, shims and containers of a killed daemon: each has the root, or a cgroup below it, in its files. */
async function killLeftovers(root: string): Promise<void> {
  const deadline = Date.now() + STARTED_WITHIN_MS;
  for (;;) {
    const pids = await processesOf(root);
    if (pids.length === 0) return;
    if (Date.now() > deadline) throw new Error(`processes of ${root} do not end: ${pids.join(' ')}`);
    for (const pid of pids) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // The process has just ended.
      }
    }
    await delay(20);
  }
}

async function processesOf(root: string): Promise<number[]> {
  const pids: number[] = [];
  for (const entry of await readdir('/proc')) {
    const pid = Number(entry);
    if (!Number.isInteger(pid) || pid === process.pid || hasEnded(pid)) continue;
    const read = (file: string) => readFile(`/proc/${entry}/${file}`, 'utf8').catch(() => '');
    const [command, cgroup] = [await read('cmdline'), await read('cgroup')];
    const daemonPart = command.includes(`${root}/`) && /^(dockerd|\S*containerd|\S*containerd-shim\S*)\0/.test(command);
    if (daemonPart || cgroup.includes(`${cgroupParent(root)}/`)) pids.push(pid);
  }
  return pids;
}

async function removeCgroups(parent: string): Promise<void> {
  for (const hierarchy of ['', ...(await readdir('/sys/fs/cgroup'))]) {
    await removeTree(join('/sys/fs/cgroup', hierarchy, parent));
  }
}

/** Removes a cgroup directory bottom-up, by rmdir only, because its files cannot be unlinked. */
async function removeTree(directory: string): Promise<void> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) if (entry.isDirectory()) await removeTree(join(directory, entry.name));
  await rmdir(directory).catch(() => undefined);
}
