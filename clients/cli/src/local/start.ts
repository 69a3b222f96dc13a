import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { CliError } from '../command-line/errors.ts';
import { type Host, thisHost } from '../doctor/host.ts';
import { configPath, type Env, serverSettingsDigest } from '../server/config-file.ts';
import { serverBundle } from '../server/server-bundle.ts';
import type { Section, YamlFile } from '../settings/read-yaml.ts';
import { serverSettings, withOwn } from '../settings/server-settings.ts';
import { lackingWithoutRoot, rangeOf, type UserRange, wordsFor } from './namespace.ts';
import { type LocalServer, makeDirectory, readLocal, startTimeOf, writeLocal } from './record.ts';

const READY_MS = 60_000;
const POLL_MS = 25;

interface How {
  env: Readonly<Record<string, string | undefined>>;
  signal: AbortSignal;
}

/**
 * Starts a server in the background, on a free port of the loopback interface, with a key that only this user can read.
 * Of two that are started at once, one gets the lock of the state; the other start returns that one.
 */
export async function startLocal(directory: string, { env, signal }: How): Promise<LocalServer> {
  makeDirectory(directory);
  const running = readLocal(directory);
  if (running) return running;
  const settings = serverSettings(env);
  const users = await usersOf(thisHost());
  // Nothing of a start that loses may touch the files of the one that wins.
  const own = `${process.pid}-${randomBytes(4).toString('hex')}`;
  const [config, log] = [join(directory, `server.${own}.yaml`), join(directory, `server.${own}.log`)];
  try {
    // JSON is YAML.
    writeFileSync(config, JSON.stringify(withOwn(ownSettings(directory, users, env), settings?.values ?? {})), {
      mode: 0o600,
      flag: 'wx',
    });
    return await launch(directory, { config, log }, { env, signal, settings });
  } finally {
    rmSync(config, { force: true });
    rmSync(log, { force: true });
  }
}

interface Files {
  config: string;
  log: string;
}

async function launch(
  directory: string,
  { config, log }: Files,
  { env, signal, settings }: How & { settings: YamlFile | undefined },
): Promise<LocalServer> {
  const key = `pdk_${digits(8)}_${randomBytes(32).toString('base64url')}`;
  const child = spawnServer({ config, log }, env.PATH, key);
  const startedAt = startTimeOf(child.pid!);
  try {
    for (const end = performance.now() + READY_MS; ; ) {
      signal.throwIfAborted();
      const address = readyAddress(log);
      if (address && startedAt !== undefined) {
        const record = {
          pid: child.pid!,
          startedAt,
          url: `http://${address}`,
          key,
          settings: serverSettingsDigest(env),
        };
        writeLocal(directory, record);
        renameSync(log, join(directory, 'server.log'));
        // For `paddock verify -config`.
        renameSync(config, join(directory, 'server.yaml'));
        child.unref();
        return record;
      }
      if (child.exitCode !== null || child.signalCode !== null)
        return await other(directory, { log, config, settings }, signal);
      if (performance.now() > end) throw new CliError(`the local server was not ready within ${READY_MS / 1000} s`);
      await delay(POLL_MS);
    }
  } catch (error) {
    child.kill();
    throw error;
  }
}

function spawnServer(
  { config, log }: Files,
  path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  key: string,
): ChildProcess {
  const descriptor = openSync(log, 'wx', 0o600);
  try {
    const words = [process.execPath, fileURLToPath(serverBundle()), '-config', config];
    const [program, ...args] = wordsFor(process.geteuid?.() ?? -1, words);
    const child = spawn(program!, args, {
      cwd: '/',
      detached: true,
      stdio: ['ignore', descriptor, descriptor],
      env: { PATH: path, PADDOCK_ADMIN_KEY: key },
    });
    if (child.pid === undefined) throw new CliError('the local server could not be started');
    return child;
  } finally {
    closeSync(descriptor);
  }
}

/** The server that holds the lock of the state, once it is ready; else the reason why this one ended. */
async function other(
  directory: string,
  { log, config, settings }: Files & { settings: YamlFile | undefined },
  signal: AbortSignal,
): Promise<LocalServer> {
  const said = lines(log);
  const reason = said.findLast((line) => line.startsWith('paddock: ')) ?? said.at(-1) ?? 'it ended at once';
  if (reason.includes('another server runs on this state')) {
    for (const end = performance.now() + READY_MS; performance.now() < end; await delay(POLL_MS)) {
      signal.throwIfAborted();
      const found = readLocal(directory);
      if (found) return found;
    }
  }
  throw new CliError(
    `the local server could not be started: ${reason.replace(/^paddock: /, '').replace(config, settings?.path ?? config)}`,
  );
}

function readyAddress(log: string): string | undefined {
  const line = lines(log).find((each) => each.includes('"msg":"ready"'));
  return line === undefined ? undefined : (JSON.parse(line) as { http_addr: string }).http_addr;
}

/** Whole lines. */
const lines = (log: string): string[] => readFileSync(log, 'utf8').split('\n').slice(0, -1);

const digits = (count: number): string => Array.from(randomBytes(count), (byte) => (byte % 32).toString(32)).join('');

/** Users of sandboxes: not those of another server on this machine; in a user namespace, those that it has. */
async function usersOf(host: Host): Promise<UserRange> {
  if (host.uid === 0) {
    const maps = [...(host.read('/proc/self/uid_map') ?? '').matchAll(/^\s*(\d+)\s+\d+\s+(\d+)$/gm)];
    const users = Math.max(0, ...maps.map(([, first, count]) => Number(first) + Number(count)));
    return users > 2_200_000_000
      ? { start: 2_100_065_536, size: 65_536 }
      : { start: 1000, size: Math.min(60_000, users - 1000) };
  }
  const lacking = await lackingWithoutRoot(host);
  const range = rangeOf(host);
  if (lacking === undefined && range) return range;
  throw new CliError(
    `no server is configured, and user ${host.uid} cannot start one: ${lacking?.what}. Run: ${lacking?.command}. ` +
      'Or set PADDOCK_URL; "paddock doctor" checks this machine',
  );
}

/** What the local server has without settings of the user. */
export function ownSettings(directory: string, users: UserRange | undefined, env: Env): Section {
  // Without root there are no cgroups that could enforce them.
  const unlimited = { default_resources: { memory_bytes: 0, pids_limit: 0 } };
  return {
    server: { http_addr: '127.0.0.1:0', grpc_addr: '127.0.0.1:0' },
    auth: { mode: 'keys' },
    storage: {
      codebase_path: join(directory, 'codebases'),
      mount_path: join(directory, 'mounts'),
      db_path: join(directory, 'metadata.json'),
    },
    // Who has the key may read what is shown there anyhow; a program in a sandbox must not get the key.
    runtime: {
      ...(users && { uid_range: users }),
      mountable_paths: ['/'],
      hidden_paths: [directory, dirname(configPath(env))],
    },
    // Those that are kept for their changes count, too: each end of an MCP client may leave one.
    sandbox: { max_per_user: 100, ...(process.geteuid?.() !== 0 && unlimited) },
  };
}
