import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Invocation, loadConfig, type ProcessEnvironment } from '../../../lib/config/load.ts';
import type { Config } from '../../../lib/config/schema.ts';

let cwd: string;

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'paddock-config-'));
});

afterEach(() => rmSync(cwd, { recursive: true }));

const STORAGE = 'storage: {codebase_path: /s/codebases, mount_path: /s/mounts, db_path: /s/db.json}\n';

function write(content: string, name = 'my.yaml'): string {
  mkdirSync(dirname(join(cwd, name)), { recursive: true });
  writeFileSync(join(cwd, name), content);
  return name;
}

function load(argv: string[] = [], more: Partial<ProcessEnvironment> = {}): Invocation {
  return loadConfig({ argv, env: {}, cwd, root: true, home: '/home/ann', ...more });
}

function serve(argv: string[] = [], more: Partial<ProcessEnvironment> = {}) {
  const invocation = load(argv, more);
  if (invocation.action !== 'serve') throw new Error(`it is ${invocation.action}`);
  return invocation;
}

/** Loads the configuration of a file with storage keys and `yaml`. */
const configOf = (yaml: string): Config => serve(['-config', write(STORAGE + yaml)]).config;

function problem(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    expect((error as Error).message).not.toContain('\n');
    return (error as Error).message;
  }
  throw new Error('nothing was wrong');
}

describe('every key', () => {
  const keys: [string, unknown, string, (config: Config) => unknown, unknown, unknown][] = [
    [
      'server',
      'grpc_addr',
      '"[::1]:0"',
      (c) => c.server.grpcAddr,
      { host: '127.0.0.1', port: 9000 },
      { host: '::1', port: 0 },
    ],
    [
      'server',
      'http_addr',
      'a.b:81',
      (c) => c.server.httpAddr,
      { host: '127.0.0.1', port: 8080 },
      { host: 'a.b', port: 81 },
    ],
    ['server', 'tls', '{certificate: /c, key: /k}', (c) => c.server.tls.certificate, '', '/c'],
    ['server', 'tls', '{certificate: /c, key: /k}', (c) => c.server.tls.key, '', '/k'],
    ['server', 'tls', '{certificate: /c, key: /k, client_ca: /a}', (c) => c.server.tls.clientCa, '', '/a'],
    ['auth', 'mode', 'keys', (c) => c.auth.mode, 'off', 'keys'],
    ['runtime', 'type', 'mock', (c) => c.runtime.type, 'bwrap', 'mock'],
    ['runtime', 'bwrap_path', '/opt/bwrap', (c) => c.runtime.bwrapPath, '/usr/bin/bwrap', '/opt/bwrap'],
    ['runtime', 'default_timeout', '1.5s', (c) => c.runtime.defaultTimeout, 30_000, 1500],
    ['runtime', 'stop_grace', '0s', (c) => c.runtime.stopGrace, 2000, 0],
    ['runtime', 'max_timeout', '1h1m', (c) => c.runtime.maxTimeout, 600_000, 3_660_000],
    ['runtime', 'mountable_paths', '[/opt]', (c) => c.runtime.mountablePaths, [], ['/opt']],
    ['runtime', 'hidden_paths', '[/opt/x]', (c) => c.runtime.hiddenPaths, [], ['/opt/x']],
    ['runtime', 'read_only_paths', '[/opt/x]', (c) => c.runtime.readOnlyPaths, [], ['/opt/x']],
    ['runtime', 'uid_range', '{start: 7}', (c) => c.runtime.uidRange.start, 2_100_000_000, 7],
    ['runtime', 'uid_range', '{size: 7}', (c) => c.runtime.uidRange.size, 65_536, 7],
    ['runtime', 'docker', '{host: "unix:///x"}', (c) => c.runtime.docker.host, '', 'unix:///x'],
    ['runtime', 'docker', '{default_image: a}', (c) => c.runtime.docker.defaultImage, 'ubuntu:22.04', 'a'],
    ['runtime', 'docker', '{network_mode: host}', (c) => c.runtime.docker.networkMode, 'none', 'host'],
    ['runtime', 'docker', '{enable_networking: true}', (c) => c.runtime.docker.enableNetworking, false, true],
    ['sandbox', 'default_expiration', '0s', (c) => c.sandbox.defaultExpiration, 86_400_000, 0],
    ['sandbox', 'max_per_user', '0', (c) => c.sandbox.maxPerUser, 10, 0],
    ['sandbox', 'cleanup_interval', '250ms', (c) => c.sandbox.cleanupInterval, 300_000, 250],
    ['sandbox', 'max_delta_bytes', '512KiB', (c) => c.sandbox.maxDeltaBytes, 10 * 2 ** 30, 2 ** 19],
    ['sandbox', 'max_delta_files', '5', (c) => c.sandbox.maxDeltaFiles, 1_000_000, 5],
    ['sandbox', 'max_index_bytes', '1MiB', (c) => c.sandbox.maxIndexBytes, 2 ** 30, 2 ** 20],
    ['sandbox', 'tmp_bytes', '1MiB', (c) => c.sandbox.tmpBytes, 2 ** 28, 2 ** 20],
    [
      'sandbox',
      'default_resources',
      '{memory_bytes: 8388608}',
      (c) => c.sandbox.defaultResources.memoryBytes,
      2 ** 31,
      8388608,
    ],
    ['sandbox', 'default_resources', '{cpu_quota: 5000}', (c) => c.sandbox.defaultResources.cpuQuota, 'auto', 5000],
    ['sandbox', 'default_resources', '{cpu_quota: 0}', (c) => c.sandbox.defaultResources.cpuQuota, 'auto', 0],
    ['sandbox', 'default_resources', '{cpu_shares: 5}', (c) => c.sandbox.defaultResources.cpuShares, 0, 5],
    ['sandbox', 'default_resources', '{pids_limit: 5}', (c) => c.sandbox.defaultResources.pidsLimit, 1024, 5],
    ['limits', 'exec_output_bytes', '1 MiB', (c) => c.limits.execOutputBytes, 2 ** 23, 2 ** 20],
    ['limits', 'exec_memory_bytes', '1 GiB', (c) => c.limits.execMemoryBytes, 2 ** 29, 2 ** 30],
    ['limits', 'sessions', '7', (c) => c.limits.sessions, 64, 7],
    ['limits', 'processes', '7', (c) => c.limits.processes, 256, 7],
    ['limits', 'process_output_bytes', '1 MiB', (c) => c.limits.processOutputBytes, 2 ** 23, 2 ** 20],
    ['limits', 'sandbox_output_bytes', '1 MiB', (c) => c.limits.sandboxOutputBytes, 2 ** 26, 2 ** 20],
    ['limits', 'process_retention', '1m', (c) => c.limits.processRetention, 3_600_000, 60_000],
    ['limits', 'per_key', '{requests_per_second: 1}', (c) => c.limits.perKey.requestsPerSecond, 100, 1],
    ['limits', 'per_key', '{request_burst: 1}', (c) => c.limits.perKey.requestBurst, 200, 1],
    ['limits', 'per_key', '{commands: 0}', (c) => c.limits.perKey.commands, 32, 0],
    ['limits', 'per_key', '{streams: 1}', (c) => c.limits.perKey.streams, 64, 1],
    ['limits', 'per_key', '{creates_per_minute: 1}', (c) => c.limits.perKey.createsPerMinute, 60, 1],
    ['limits', 'per_owner', '{requests_per_second: 1}', (c) => c.limits.perOwner.requestsPerSecond, 200, 1],
    ['limits', 'per_owner', '{request_burst: 1}', (c) => c.limits.perOwner.requestBurst, 400, 1],
    ['limits', 'per_owner', '{commands: 1}', (c) => c.limits.perOwner.commands, 64, 1],
    ['limits', 'per_owner', '{streams: 0}', (c) => c.limits.perOwner.streams, 128, 0],
    ['limits', 'per_owner', '{creates_per_minute: 1}', (c) => c.limits.perOwner.createsPerMinute, 120, 1],
    ['limits', 'per_owner', '{codebases: 1}', (c) => c.limits.perOwner.codebases, 1000, 1],
    ['limits', 'per_owner', '{stored_bytes: 1 MiB}', (c) => c.limits.perOwner.storedBytes, 500 * 2 ** 30, 2 ** 20],
    ['limits', 'per_owner', '{delta_bytes: 1 MiB}', (c) => c.limits.perOwner.deltaBytes, 100 * 2 ** 30, 2 ** 20],
    ['limits', 'per_owner', '{memory_bytes: 8388608}', (c) => c.limits.perOwner.memoryBytes, 0, 8388608],
    ['limits', 'per_owner', '{cpu_quota: 5000}', (c) => c.limits.perOwner.cpuQuota, 0, 5000],
    ['logging', 'level', 'debug', (c) => c.logging.level, 'info', 'debug'],
    ['logging', 'format', 'text', (c) => c.logging.format, 'json', 'text'],
  ];

  it.each(keys)('%s.%s: %s has a default, and its value is read', (section, key, yaml, read, byDefault, value) => {
    expect(read(configOf(''))).toEqual(byDefault);
    expect(read(configOf(`${section}:\n  ${String(key)}: ${yaml}\n`))).toEqual(value);
  });

  it('storage.max_codebase_bytes and max_codebase_files have defaults and are read', () => {
    expect(configOf('').storage).toMatchObject({ maxCodebaseBytes: 50 * 2 ** 30, maxCodebaseFiles: 2_000_000 });
    const limits = STORAGE.replace('}', ', max_codebase_bytes: 5 MiB, max_codebase_files: 0}');
    const { storage } = serve(['-config', write(limits)]).config;
    expect(storage).toMatchObject({ maxCodebaseBytes: 5 * 2 ** 20, maxCodebaseFiles: 0 });
  });

  it('storage has the paths of the file', () => {
    expect(configOf('').storage).toMatchObject({
      codebasePath: '/s/codebases',
      mountPath: '/s/mounts',
      dbPath: '/s/db.json',
    });
  });

  it('in configs/server.yaml has its default value', () => {
    write(readFileSync(new URL('../../../configs/server.yaml', import.meta.url), 'utf8'), 'configs/server.yaml');
    const own = serve();
    expect([own.source, own.warnings]).toEqual(['configs/server.yaml', []]);
    // With addresses that are written: without them and without keys only this machine reaches the server.
    const file = write('server: {grpc_addr: ":9000", http_addr: ":8080"}');
    expect(own.config).toEqual(serve(['-config', file]).config);
  });

  it.each([
    ['without keys is reached by this machine only', '', '127.0.0.1'],
    ['with keys is reached by all machines', 'auth: {mode: keys}', ''],
  ])('an address that is not written %s', (_, yaml, host) => {
    const { server } = serve(['-config', write(yaml)]).config;
    expect([server.grpcAddr, server.httpAddr]).toEqual([
      { host, port: 9000 },
      { host, port: 8080 },
    ]);
  });

  it('an address that is written, in the file or by a flag, is that one, also without keys', () => {
    const { server } = serve(['-config', write('server: {grpc_addr: ":9000"}'), '-http-addr', ':8080']).config;
    expect([server.grpcAddr.host, server.httpAddr.host]).toEqual(['', '']);
  });

  it('of the schema is in configs/server.yaml', () => {
    const yaml = readFileSync(new URL('../../../configs/server.yaml', import.meta.url), 'utf8');
    const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    const names = (value: object): string[] =>
      Object.entries(value).flatMap(([key, inner]) =>
        typeof inner === 'object' && !Array.isArray(inner) && !('port' in inner)
          ? [snake(key), ...names(inner)]
          : [snake(key)],
      );
    for (const name of names(serve().config)) expect(yaml).toMatch(new RegExp(`^ *${name}:`, 'm'));
  });
});

describe('a value that is not allowed', () => {
  const lines: [string, string][] = [
    ['runtime: {type: podman}', 'my.yaml: runtime.type: value "podman" is not allowed: one of bwrap, docker, mock'],
    ['logging: {level: loud}', 'my.yaml: logging.level: value "loud" is not allowed: one of debug, info, warn, error'],
    ['logging: {format: null}', 'my.yaml: logging.format: value null is not allowed: one of json, text'],
    ['server: {grpc_addr: 9000}', 'my.yaml: server.grpc_addr: value 9000 is not allowed: an address like'],
    [
      'server: {allowed_hosts: localhost}',
      'my.yaml: server.allowed_hosts: value "localhost" is not allowed: a list of',
    ],
    ['server: {allowed_hosts: ["a.b:80"]}', 'is not allowed: a list of host names or addresses without ports'],
    ['server: {tls: {certificate: /c}}', 'tls.key: value "" is not allowed: the private key of server.tls.certificate'],
    [
      'server: {tls: {key: /k}}',
      'tls.certificate: value "" is not allowed: the certificate of server.tls.key is required',
    ],
    ['server: {tls: {client_ca: /a}}', 'tls.client_ca: value "/a" is not allowed: server.tls.certificate is required'],
    ['server: {tls: {certificate: null, key: /k}}', 'value null is not allowed: an absolute path, or "" for none'],
    ['server: {tls: {certificate: c.pem, key: /k}}', 'value "c.pem" is not allowed: an absolute path, or "" for none'],
    [
      'server: {tls: {bind_owners: true}}',
      'tls.bind_owners: value true is not allowed: server.tls.client_ca is required',
    ],
    [
      'server: {tls: {certificate: /c, key: /k, client_ca: /a, bind_owners: true}}',
      'server.tls.bind_owners: value true is not allowed: auth.mode: keys is required with it',
    ],
    [
      'server: {tls: {admin_names: [ann]}}',
      'tls.admin_names: value ["ann"] is not allowed: server.tls.bind_owners: true is required with it',
    ],
    ['server: {tls: {admin_names: ann}}', 'tls.admin_names: value "ann" is not allowed: a list of texts'],
    ['server: {tls: {admin_names: [""]}}', 'is not allowed: a text that is not empty'],
    ['server: {grpc_addr: ":65536"}', 'value ":65536" is not allowed: an address like'],
    ['server: {grpc_addr: "::1:80"}', 'value "::1:80" is not allowed: an address like'],
    ['server: {grpc_addr: "[1.2.3.4]:80"}', 'is not allowed: an address like'],
    ['server: {grpc_addr: ""}', 'value "" is not allowed: an address like'],
    ['runtime: {default_timeout: 30}', 'my.yaml: runtime.default_timeout: value 30 is not allowed: a duration above 0'],
    ['runtime: {default_timeout: "0"}', 'runtime.default_timeout: value "0" is not allowed: a duration above 0'],
    ['runtime: {default_timeout: 5d}', 'runtime.default_timeout: value "5d" is not allowed'],
    ['runtime: {default_timeout: -5s}', 'runtime.default_timeout: value "-5s" is not allowed'],
    ['runtime: {default_timeout: 1s 2s}', 'value "1s 2s" is not allowed'],
    ['runtime: {max_timeout: 600h}', 'runtime.max_timeout: value "600h" is not allowed'],
    [
      'runtime: {default_timeout: 11m}',
      'runtime.default_timeout: value "660000ms" is not allowed: at most runtime.max_timeout',
    ],
    ['runtime: {bwrap_path: bwrap}', 'runtime.bwrap_path: value "bwrap" is not allowed: an absolute path'],
    ['runtime: {read_only_paths: /opt}', 'runtime.read_only_paths: value "/opt" is not allowed: a list'],
    ['runtime: {uid_range: {start: 0}}', 'runtime.uid_range.start: value 0 is not allowed'],
    ['runtime: {uid_range: {start: 4294967000}}', 'runtime.uid_range.size: value 65536 is not allowed'],
    ['runtime: {docker: {enable_networking: yes}}', 'value "yes" is not allowed: true or false'],
    ['sandbox: {max_per_user: -1}', 'sandbox.max_per_user: value -1 is not allowed: a whole number from 0'],
    ['sandbox: {max_per_user: 1.5}', 'sandbox.max_per_user: value 1.5 is not allowed'],
    ['sandbox: {max_per_user: .nan}', 'sandbox.max_per_user: value NaN is not allowed'],
    ['sandbox: {cleanup_interval: 0s}', 'sandbox.cleanup_interval: value "0s" is not allowed: a duration above 0'],
    ['sandbox: {tmp_bytes: 0}', 'sandbox.tmp_bytes: value 0 is not allowed: at least 1048576'],
    ['sandbox: {max_delta_bytes: 10GB}', 'sandbox.max_delta_bytes: value "10GB" is not allowed: a number of bytes'],
    [
      'sandbox: {default_resources: {cpu_quota: 999}}',
      'cpu_quota: value 999 is not allowed: auto, 0 (no limit) or from 1000 to 1000000000',
    ],
    [
      'sandbox: {default_resources: {cpu_quota: -1}}',
      'cpu_quota: value -1 is not allowed: auto, a whole number from 0',
    ],
    ['sandbox: {default_resources: {cpu_shares: 1}}', 'cpu_shares: value 1 is not allowed: 0 (no limit) or from 2'],
    [
      'sandbox: {default_resources: {memory_bytes: 4MiB}}',
      'memory_bytes: value "4MiB" is not allowed: 0 (no limit) or from 8388608 to',
    ],
    [
      'sandbox: {default_resources: {pids_limit: 4194305}}',
      'pids_limit: value 4194305 is not allowed: 0 (no limit) or from 1 to 4194304',
    ],
    ['sandbox: [1]', 'my.yaml: sandbox: value [ 1 ] is not allowed: a map of default_expiration'],
    ['sandbox: {max_per_user: "a\\nb"}', 'sandbox.max_per_user: value "a\\nb" is not allowed'],
  ];

  it.each(lines)('%s: the error is one line that names file, key, value and the allowed values', (yaml, expected) => {
    expect(problem(() => configOf(yaml))).toContain(expected);
  });

  it('an unknown key is refused with an error that names the most similar key', () => {
    expect(problem(() => configOf('sandbox: {max_per_usr: 3}'))).toBe(
      'my.yaml: sandbox.max_per_usr: unknown key; did you mean sandbox.max_per_user?',
    );
    expect(problem(() => configOf('loging: {}'))).toBe('my.yaml: loging: unknown key; did you mean logging?');
  });

  it('an unknown key without a similar one is refused with an error that lists the known keys', () => {
    expect(problem(() => configOf('logging: {zzzzzzzz: 1}'))).toBe(
      'my.yaml: logging.zzzzzzzz: unknown key; known are level, format',
    );
  });

  it.each(['__proto__', 'constructor', 'toString'])('%s is an unknown key', (name) => {
    expect(problem(() => configOf(`logging: {${name}: 1}`))).toContain('unknown key');
  });

  it.each(['server: {grpc_addr: "a', 'a: b: c', '- 1', '"text"', '&a [*a]', 'server: {a: 1, a: 1}', '%%', '\0'])(
    'YAML that is not a map of sections is refused in one line: %j',
    (yaml) => {
      expect(problem(() => load(['-config', write(yaml)]))).toMatch(/^my\.yaml: /);
    },
  );

  it.each(['postgres://ann:secret@db/paddock', 'file:///s/db.json', 'HTTP://x@y:z@host/'])(
    'a URL in storage is refused with an error that does not contain its password: %s',
    (url) => {
      const refusal = problem(() => load(['-config', write(`storage: {db_path: "${url}"}`)]));
      expect(refusal).toMatch(
        /^my\.yaml: storage\.db_path: value ".*" is not allowed: an absolute path; databases and/,
      );
      expect(refusal).not.toMatch(/secret|ann|y:z/);
    },
  );

  it.each(['storage: []', 'storage: /s', '[storage]'])('storage that is not a map is refused: %s', (yaml) => {
    expect(problem(() => load(['-config', write(yaml)]))).toMatch(/^my\.yaml: .*is not allowed: a map of /);
  });

  it.each([
    ['/s', '/s', '/d.json', 'mount_path'],
    ['/s/mounts/deltas', '/s/mounts', '/d.json', 'codebase_path'],
    ['/s', '/s/mounts', '/d.json', 'mount_path'],
    ['/c', '/m', '/c/d.json', 'db_path'],
    ['/c', '/m', '/m/fs/d.json', 'db_path'],
    ['/c', '/m', '/m', 'db_path'],
  ])('storage paths inside each other are refused: %s, %s, %s', (codebases, mounts, db, named) => {
    const yaml = `storage: {codebase_path: ${codebases}, mount_path: ${mounts}, db_path: ${db}}`;
    expect(problem(() => load(['-config', write(yaml)]))).toMatch(`my.yaml: storage.${named}: value`);
  });
});

describe('the source of the configuration', () => {
  it('-config takes precedence over SERVICE_CONFIG, which takes precedence over configs/server.yaml', () => {
    const level = (name: string) => `${STORAGE}logging: {level: ${name}}`;
    write(level('debug'), 'a.yaml');
    write(level('warn'), 'b.yaml');
    write(level('error'), 'configs/server.yaml');
    const env = { SERVICE_CONFIG: 'b.yaml' };
    expect(serve(['-config', 'a.yaml'], { env }).config.logging.level).toBe('debug');
    expect(serve([], { env }).config.logging.level).toBe('warn');
    expect(serve([], { env: { SERVICE_CONFIG: '' } }).config.logging.level).toBe('error');
    expect(serve().source).toBe('configs/server.yaml');
  });

  it('a flag takes precedence over the file, and the file over the default', () => {
    const file = write(`${STORAGE}runtime: {type: docker}\nserver: {grpc_addr: ":1", http_addr: ":2"}`);
    const { config } = serve(['-config', file, '-runtime', 'mock', '-http-addr', '127.0.0.1:3']);
    expect(config.runtime.type).toBe('mock');
    expect(config.server).toEqual({
      allowedHosts: [],
      previewDomain: '',
      grpcAddr: { host: '', port: 1 },
      httpAddr: { host: '127.0.0.1', port: 3 },
      tls: { certificate: '', key: '', clientCa: '', bindOwners: false, adminNames: [] },
    });
  });

  it('an invalid value in the file is refused even if a flag overrides it', () => {
    const file = write(`${STORAGE}runtime: {type: nope}`);
    expect(problem(() => load(['-config', file, '-runtime', 'mock']))).toContain('value "nope" is not allowed');
  });

  it.each([['-config'], ['SERVICE_CONFIG']])('a missing file named by %s stops the start', (by) => {
    const run =
      by === '-config' ? () => load(['-config', 'no.yaml']) : () => load([], { env: { SERVICE_CONFIG: 'no.yaml' } });
    expect(problem(run)).toBe('no.yaml: the configuration file cannot be read: ENOENT');
  });

  it('a directory as the configuration file stops the start', () => {
    expect(problem(() => load(['-config', '.']))).toBe('.: the configuration file cannot be read: EISDIR');
  });

  it.each<[string, Partial<ProcessEnvironment>, string]>([
    ['root', { root: true }, '/var/lib/paddock'],
    ['a user', { root: false }, '/home/ann/.local/state/paddock'],
    ['a user with XDG_STATE_HOME', { root: false, env: { XDG_STATE_HOME: '/x' } }, '/x/paddock'],
    [
      'a user with a relative XDG_STATE_HOME',
      { root: false, env: { XDG_STATE_HOME: 'x' } },
      '/home/ann/.local/state/paddock',
    ],
    ['a systemd unit', { env: { STATE_DIRECTORY: '/var/lib/unit:/other' } }, '/var/lib/unit'],
  ])('without a configuration file the state of %s is in its default directory', (_, more, folder) => {
    const { config, source } = serve([], more);
    expect(source).toBe('defaults');
    expect(config.storage).toMatchObject({
      codebasePath: `${folder}/codebases`,
      mountPath: `${folder}/mounts`,
      dbPath: `${folder}/metadata.json`,
    });
  });

  it.each([
    ['codebase_path', { codebasePath: '/x' }],
    ['mount_path', { mountPath: '/x' }],
    ['db_path', { dbPath: '/x' }],
  ])('a file that sets only storage.%s takes the other paths from the state directory', (name, set) => {
    const file = write(`storage: {${name}: /x}`);
    const { storage } = serve(['-config', file], { env: { STATE_DIRECTORY: '/state' } }).config;
    const rest = { codebasePath: '/state/codebases', mountPath: '/state/mounts', dbPath: '/state/metadata.json' };
    expect(storage).toMatchObject({ ...rest, ...set });
  });

  it.each(['', 'storage:', 'logging: {level: warn}'])(
    'a file without storage keys takes all paths from the state directory: %j',
    (yaml) => {
      const { storage } = serve(['-config', write(yaml)], { env: { STATE_DIRECTORY: '/state' } }).config;
      expect(storage.dbPath).toBe('/state/metadata.json');
    },
  );

  it("a relative storage path starts at the file's directory and gives a warning", () => {
    const file = write('storage: {codebase_path: c, mount_path: ../m, db_path: /db.json}', 'etc/my.yaml');
    const { config, warnings } = serve(['-config', file]);
    expect(config.storage.codebasePath).toBe(join(cwd, 'etc/c'));
    expect(config.storage.mountPath).toBe(join(cwd, 'm'));
    expect(warnings).toEqual([
      `etc/my.yaml: storage.codebase_path: path "c" is relative; ${join(cwd, 'etc/c')} is used`,
      `etc/my.yaml: storage.mount_path: path "../m" is relative; ${join(cwd, 'm')} is used`,
    ]);
  });

  it('a variable in a value is not expanded', () => {
    expect(configOf(`runtime: {docker: {host: "$\{HOME}"}}`).runtime.docker.host).toBe(`$\{HOME}`);
  });
});

describe('flags', () => {
  it.each([['-runtime', 'mock'], ['-runtime=mock'], ['--runtime', 'mock'], ['--runtime=mock']])(
    'are accepted as %s %s',
    (...argv) => {
      expect(serve(argv.filter((part) => part !== undefined)).config.runtime.type).toBe('mock');
    },
  );

  it.each([['--version'], ['-version'], ['-version=true'], ['-runtime', 'nope', '--version']])(
    '%s %s requests the version',
    (...argv) => {
      expect(load(argv.filter((part) => part !== undefined)).action).toBe('version');
    },
  );

  it('after verify name the configuration whose state is checked', () => {
    const invocation = load(['verify', '-config', write(STORAGE)]);
    expect(invocation).toMatchObject({
      action: 'verify',
      source: 'my.yaml',
      config: { storage: { dbPath: '/s/db.json' } },
    });
  });

  it('after key create name the configuration whose server gets the key', () => {
    const argv = ['key', 'create', '--admin', '-name', 'first', '-config', write(STORAGE)];
    const config = { storage: { dbPath: '/s/db.json' } };
    expect(load(argv)).toMatchObject({ action: 'create-key', name: 'first', source: 'my.yaml', config });
    expect(load(['key', 'create', '--help']).action).toBe('help');
  });

  it.each(['-h', '--help', '-help'])('%s requests the usage text, which names every flag', (flag) => {
    const invocation = load([flag]);
    expect(invocation.action === 'help' && invocation.usage).toMatch(
      /-config[\s\S]*-runtime[\s\S]*-grpc-addr[\s\S]*-http-addr[\s\S]*-version/,
    );
  });

  it.each<[string[], string]>([
    [['-runtme', 'mock'], '-runtme: unknown flag: did you mean -runtime?'],
    [['-x'], '-x: unknown flag: -config, -runtime'],
    [['-constructor'], '-constructor: unknown flag'],
    [['-runtime', 'podman'], '-runtime: value "podman" is not allowed: one of bwrap, docker, mock'],
    [['-grpc-addr', 'x'], '-grpc-addr: value "x" is not allowed: an address like'],
    [['-config'], '-config: a value is missing'],
    [['-config='], '-config: a value is missing'],
    [['--version=no'], '-version: takes no value'],
    [['serve'], '"serve": only flags are taken'],
    [['-config', 'my.yaml', 'verify'], '"verify": only flags are taken'],
    [['verify', 'all'], '"all": only flags are taken'],
    [['verify', '-runtime', 'mock'], '-runtime: verify takes no flag but -config <path>'],
    [['key'], 'key: the only command is key create --admin'],
    [['key', 'create'], 'key create: --admin is required'],
    [['key', 'create', '--admin', '-runtime', 'mock'], '-runtime: unknown flag: -config, -admin, -name, -help'],
    [['--'], '"--": only flags are taken'],
    [['-'], '"-": only flags are taken'],
  ])('%j is refused in one line', (argv, expected) => {
    expect(problem(() => load(argv))).toContain(expected);
  });
});

describe('PADDOCK_ADMIN_KEY', () => {
  const secret = 'S'.repeat(43);
  const env = { PADDOCK_ADMIN_KEY: `pdk_operator_${secret}` };

  it('is an admin key of which only the hash is kept', () => {
    const { adminKey } = serve(['-config', write(`${STORAGE}auth: {mode: keys}`)], { env });
    expect(adminKey).toMatchObject({ id: 'operator', role: 'admin' });
    expect(JSON.stringify(adminKey)).not.toContain(secret);
  });

  it('is refused without being shown if it does not have the shape of a key', () => {
    const refused = problem(() => load([], { env: { PADDOCK_ADMIN_KEY: 'hunter2' } }));
    expect(refused).toMatch(/^PADDOCK_ADMIN_KEY: the value is not allowed: a key like pdk_/);
    expect(refused).not.toContain('hunter2');
  });

  it('has a warning if authentication is off', () => {
    expect(serve([], { env }).warnings).toContain('PADDOCK_ADMIN_KEY has no effect: auth.mode is off');
  });
});

describe('the command health', () => {
  it('reads the configuration and the REST address', () => {
    const file = write(STORAGE);
    const argv = ['health', '-config', file, '-http-addr', '127.0.0.1:3'];
    expect(load(argv)).toMatchObject({ action: 'health', config: { server: { httpAddr: { port: 3 } } } });
    expect(problem(() => load(['health', '-runtime', 'mock']))).toContain('-runtime: unknown flag');
    expect(load(['health', '-h'])).toMatchObject({ action: 'help' });
  });
});
