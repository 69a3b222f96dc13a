import { CODEBASE_FORMATS } from '../codebases/require-format.ts';
import { DEFAULT_OUTPUT_BYTES } from '../command-limits.ts';
import { ON_EXPIRE } from '../field-values.ts';
import { LOG_FORMATS, LOG_LEVELS } from '../log.ts';
import { RESOURCE_RANGES } from '../resource-limits.ts';
import { ceiling, resolvers } from './network-values.ts';
import {
  absolutePath,
  absolutePaths,
  address,
  atLeast,
  autoOr,
  boolean,
  byteSize,
  duration,
  hostNames,
  integer,
  oneOf,
  optionalPath,
  optionalText,
  type Parse,
  previewDomain,
  storagePath,
  text,
  texts,
  wholeNumber,
  zeroOr,
} from './values.ts';

export interface Key<T> {
  parse: Parse<T>;
  /** In the file's notation; undefined: depends on the system, and is added before the file is read. */
  default: unknown;
}

export interface Section {
  readonly [name: string]: Section | Key<unknown>;
}

const RUNTIME_TYPES = ['bwrap', 'docker', 'mock'] as const;

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** Maximum of a Go duration; a safe integer of milliseconds. */
const LONGEST = 2_562_047 * HOUR;
/** A timer of Node has at most 2^31 - 1 ms; a longer one fires at once. */
const LONGEST_TIMER = 576 * HOUR;

/** A tmpfs of size 0 has no limit. */
const MEBIBYTE = 2 ** 20;

const timeout = duration({ min: 1, max: LONGEST_TIMER, allowed: 'a duration above 0 and at most 576h' });

function key<T>(parse: Parse<T>, value?: unknown): Key<T> {
  return { parse, default: value };
}

/** All keys of the file, in their order there. */
export const SCHEMA = {
  server: {
    grpc_addr: key(address, ':9000'),
    http_addr: key(address, ':8080'),
    allowed_hosts: key(hostNames, []),
    preview_domain: key(previewDomain, ''),
    tls: {
      certificate: key(optionalPath, ''),
      key: key(optionalPath, ''),
      client_ca: key(optionalPath, ''),
      bind_owners: key(boolean, false),
      admin_names: key(texts, []),
    },
  },
  auth: {
    mode: key(oneOf('off', 'keys'), 'off'),
  },
  storage: {
    codebase_path: key(storagePath),
    codebase_format: key(oneOf(...CODEBASE_FORMATS), 'plain'),
    mount_path: key(storagePath),
    db_path: key(storagePath),
    reserve_bytes: key(autoOr(byteSize), 'auto'),
    max_codebase_bytes: key(byteSize, '50GiB'),
    max_codebase_files: key(wholeNumber, 2_000_000),
    max_image_bytes: key(byteSize, '20GiB'),
    max_image_files: key(wholeNumber, 1_000_000),
    max_images_bytes: key(byteSize, '100GiB'),
  },
  runtime: {
    type: key(oneOf(...RUNTIME_TYPES), 'bwrap'),
    bwrap_path: key(absolutePath, '/usr/bin/bwrap'),
    default_timeout: key(timeout, '30s'),
    max_timeout: key(timeout, '10m'),
    stop_grace: key(duration({ min: 0, max: 60_000, allowed: 'a duration of at most 1m, 0s for none' }), '2s'),
    read_only_paths: key(absolutePaths, []),
    mountable_paths: key(absolutePaths, []),
    hidden_paths: key(absolutePaths, []),
    ready: key(integer(0, 64), 8),
    uid_range: {
      // Above the subordinate ids that useradd assigns (up to 600100000), those of systemd-nspawn, and the ranges of
      // FreeIPA and SSSD; below 2^31, the maximum of Docker.
      start: key(integer(1, 2 ** 32 - 2), 2_100_000_000),
      size: key(integer(1, 2 ** 32 - 2), 65_536),
    },
    docker: {
      host: key(optionalText, ''),
      default_image: key(text, 'ubuntu:22.04'),
      network_mode: key(oneOf('none', 'bridge', 'host'), 'none'),
      enable_networking: key(boolean, false),
    },
  },
  sandbox: {
    default_expiration: key(duration({ min: 0, max: LONGEST, allowed: 'a duration, 0s for never' }), '24h'),
    default_on_expire: key(oneOf(...ON_EXPIRE), 'keep_changes'),
    expired_retention: key(duration({ min: 0, max: LONGEST, allowed: 'a duration, 0s for ever' }), '168h'),
    max_expired_per_user: key(integer(0, 2 ** 31 - 1), 100),
    max_per_user: key(integer(0, 2 ** 31 - 1), 10),
    cleanup_interval: key(duration({ min: 1, max: LONGEST, allowed: 'a duration above 0' }), '5m'),
    max_delta_bytes: key(byteSize, '10GiB'),
    max_delta_files: key(wholeNumber, 1_000_000),
    max_index_bytes: key(byteSize, '1GiB'),
    tmp_bytes: key(atLeast(byteSize, MEBIBYTE), '256MiB'),
    default_resources: {
      memory_bytes: key(zeroOr(byteSize, RESOURCE_RANGES.memory_bytes), '2GiB'),
      cpu_quota: key(autoOr(zeroOr(wholeNumber, RESOURCE_RANGES.cpu_quota)), 'auto'),
      cpu_shares: key(zeroOr(wholeNumber, RESOURCE_RANGES.cpu_shares), 0),
      pids_limit: key(zeroOr(wholeNumber, RESOURCE_RANGES.pids_limit), 1024),
    },
  },
  network: {
    enabled: key(boolean, true),
    allow_max: key(ceiling, ['public']),
    resolvers: key(resolvers, []),
    extra_ca: key(optionalPath, ''),
  },
  secrets: {
    key_file: key(optionalPath, ''),
    key_command: key(texts, []),
  },
  limits: {
    exec_output_bytes: key(byteSize, `${DEFAULT_OUTPUT_BYTES / 2 ** 20}MiB`),
    exec_memory_bytes: key(byteSize, '512MiB'),
    sessions: key(integer(1, 256), 64),
    processes: key(integer(1, 512), 256),
    process_output_bytes: key(byteSize, '8MiB'),
    sandbox_output_bytes: key(byteSize, '64MiB'),
    process_retention: key(duration({ min: 0, max: LONGEST, allowed: 'a duration' }), '1h'),
    per_key: {
      requests_per_second: key(wholeNumber, 100),
      request_burst: key(wholeNumber, 200),
      commands: key(wholeNumber, 32),
      streams: key(wholeNumber, 64),
      creates_per_minute: key(wholeNumber, 60),
    },
    per_owner: {
      requests_per_second: key(wholeNumber, 200),
      request_burst: key(wholeNumber, 400),
      commands: key(wholeNumber, 64),
      streams: key(wholeNumber, 128),
      creates_per_minute: key(wholeNumber, 120),
      codebases: key(wholeNumber, 1000),
      stored_bytes: key(byteSize, '500GiB'),
      delta_bytes: key(byteSize, '100GiB'),
      memory_bytes: key(zeroOr(byteSize, RESOURCE_RANGES.memory_bytes), 0),
      cpu_quota: key(zeroOr(wholeNumber, RESOURCE_RANGES.cpu_quota), 0),
    },
  },
  logging: {
    level: key(oneOf(...LOG_LEVELS), 'info'),
    format: key(oneOf(...LOG_FORMATS), 'json'),
  },
} as const satisfies Section;

type Camel<S> = S extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : S;

type Values<S> = S extends Key<infer T> ? T : { readonly [K in keyof S as Camel<K>]: Values<S[K]> };

/** The keys in camel case; durations in milliseconds, sizes in bytes. */
export type Config = Values<typeof SCHEMA>;

export function isKey(node: Section | Key<unknown>): node is Key<unknown> {
  return typeof (node as Partial<Key<unknown>>).parse === 'function';
}
