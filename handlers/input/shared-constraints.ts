import {
  ENV_NAME,
  ENV_NAME_PROBLEM,
  MAX_ARGUMENTS,
  MAX_ARGV_BYTES,
  MAX_ENV_BYTES,
  MAX_SANDBOX_ENV_BYTES,
  MAX_SANDBOX_VARIABLES,
  MAX_SESSION_COMMAND_BYTES,
  MAX_STRING_BYTES,
  MAX_VARIABLES,
  MAX_WORKDIR_BYTES,
} from '../../lib/command-limits.ts';
import { ACTORS, ARCHIVE_FORMATS, AUTO_COMMITS, ON_EXPIRE, ON_IDLE, SECRET_SOURCES } from '../../lib/field-values.ts';
import { MAX_LABELS } from '../../lib/label-limits.ts';
import { SECRET_HEADER } from '../../lib/network/secrets/header.ts';
import { SECRET_HOST } from '../../lib/network/secrets/hosts.ts';
import { SHAPE } from '../../lib/network/secrets/placeholder.ts';
import {
  MAX_PATTERN_BYTES,
  MAX_RULES,
  MAX_RULES_BYTES,
  MAX_SHORT_PATTERNS,
} from '../../lib/permissions/pattern-limits.ts';
import { RESOURCE_RANGES } from '../../lib/resource-limits.ts';
import type { Constraints, FieldConstraint } from './constraints.ts';
import { newNetwork } from './network-constraints.ts';

/** Names of things and of owners. */
export const plainName = {
  maxLength: 255,
  pattern: { source: '[^\\p{Cc}\\p{Surrogate}]*', problem: 'must have no control characters' },
} as const satisfies FieldConstraint;

/** Name of an image of this server: not the form of an id. */
export const IMAGE_NAME = {
  source: '(?!sha256:)[A-Za-z0-9_][A-Za-z0-9_.:/@-]*',
  problem: 'must be a name like python:3.12, and not a digest',
} as const;

/** Paging of a list. */
export const page = { page_size: { minimum: 0, maximum: 1000, default: 100 } } as const satisfies Constraints;

/** Permission bits; a codebase has no set-id and sticky bits. 0: the operation's default. */
export const permissionBits = {
  mode: { minimum: 0, maximum: 0o777, note: '0777 in octal' },
} as const satisfies Constraints;

/** The identity of a file operation. */
export const actor = { as: { values: ACTORS } } as const satisfies Constraints;

export const archive = { format: { values: ARCHIVE_FORMATS } } as const satisfies Constraints;

/** A list of rules. */
export const rules = {
  maxItems: MAX_RULES,
  maxBytes: MAX_RULES_BYTES,
  items: { fields: { pattern: { maxBytes: MAX_PATTERN_BYTES } } },
} as const satisfies FieldConstraint;

/** Patterns of one permission, in the short form of rules. */
const patterns = {
  maxItems: MAX_SHORT_PATTERNS,
  items: { minLength: 1, maxBytes: MAX_PATTERN_BYTES },
} as const satisfies FieldConstraint;

/** Of `shown`; a request with the longest lists of all others has no room for more. */
const shownPatterns = { ...patterns, maxBytes: 32_768 } as const satisfies FieldConstraint;

export const shortRules = {
  fields: {
    write: patterns,
    read: patterns,
    none: patterns,
    scratch: patterns,
    view: patterns,
    redacted: patterns,
    shown: shownPatterns,
  },
} as const satisfies FieldConstraint;

export const labels = {
  maxItems: MAX_LABELS,
  keys: { minLength: 1, maxLength: 128 },
  items: { maxLength: 1024 },
} as const satisfies FieldConstraint;

/** Seconds; at most ten years. */
export const lifetime = { minimum: 0, maximum: 315_360_000, unit: 'seconds' } as const satisfies FieldConstraint;

export const idlePolicy = { idle_timeout: lifetime, on_idle: { values: ON_IDLE } } as const satisfies Constraints;

export const expiryPolicy = {
  expires_in: lifetime,
  on_expire: { values: ON_EXPIRE },
} as const satisfies Constraints;

const noNul = { source: '[^\\0]*', problem: 'must have no NUL' };

/** The name or the path of a shell. */
const shell = {
  pattern: {
    source: '[A-Za-z0-9_][A-Za-z0-9._+-]*|/[^\\0]*',
    problem: 'must be the name of a program, like bash, or an absolute path',
  },
  maxBytes: MAX_WORKDIR_BYTES,
} as const satisfies FieldConstraint;

const envName = { minLength: 1, pattern: { source: ENV_NAME, problem: ENV_NAME_PROBLEM } } as const;

/** A path of the host, in one spelling. */
export const hostPath = {
  pattern: {
    source: '(/(?!\\.{0,2}(/|$))[^/\\0]+)+',
    problem: 'must be an absolute path other than / and without "." and "..", like /opt/node',
  },
  maxBytes: 1024,
} as const satisfies FieldConstraint;

/** What a command starts with. */
const surroundings = {
  shell,
  workdir: { pattern: noNul, maxBytes: MAX_WORKDIR_BYTES },
  env: {
    maxItems: MAX_VARIABLES,
    keys: envName,
    items: { pattern: noNul },
    maxEntryBytes: MAX_STRING_BYTES,
    maxBytes: MAX_ENV_BYTES,
  },
} as const satisfies Constraints;

/** What the commands of a sandbox start with, under what their requests have. */
export const sandboxSurroundings = {
  ...surroundings,
  env: { ...surroundings.env, maxItems: MAX_SANDBOX_VARIABLES, maxBytes: MAX_SANDBOX_ENV_BYTES },
} as const satisfies Constraints;

/** Name of a secret. */
export const secretName = {
  pattern: {
    source: '[A-Za-z0-9][A-Za-z0-9._-]{0,63}',
    problem: 'must have 1 to 64 letters, digits, "-", "_" and ".", the first one a letter or a digit',
  },
} as const satisfies FieldConstraint;

const secretHosts = {
  maxItems: 100,
  items: {
    minLength: 1,
    pattern: { source: SECRET_HOST, problem: 'must be a name in lower case, like api.github.com or *.example.org' },
  },
} as const satisfies FieldConstraint;

const placeholderShape = {
  pattern: { source: SHAPE, problem: 'must have at most 64 letters, digits, "-" and "_"' },
} as const satisfies FieldConstraint;

/** The secrets of a new sandbox. */
const secretBindings = {
  maxItems: 64,
  items: {
    fields: {
      name: secretName,
      variable: { pattern: envName.pattern },
      hosts: secretHosts,
      shape: placeholderShape,
      source: { values: SECRET_SOURCES },
      path: { format: 'file-path' },
      key: { maxLength: 256 },
    },
  },
} as const satisfies FieldConstraint;

/** Fields of new sandboxes, in CreateSandbox and Fork. */
export const newSandbox = {
  permissions: rules,
  rules: shortRules,
  labels,
  ...expiryPolicy,
  ...idlePolicy,
  ...sandboxSurroundings,
  resources: {
    fields: {
      memory_bytes: { ...RESOURCE_RANGES.memory_bytes, orZero: true, unit: 'bytes' },
      cpu_quota: { ...RESOURCE_RANGES.cpu_quota, orZero: true, unit: 'microseconds per 100,000' },
      cpu_shares: { ...RESOURCE_RANGES.cpu_shares, orZero: true },
      pids_limit: { ...RESOURCE_RANGES.pids_limit, orZero: true },
    },
  },
  auto_commit: { values: AUTO_COMMITS },
  network: newNetwork,
  secrets: secretBindings,
} as const satisfies Constraints;

/** A command and its environment. */
const command = {
  command: { requiredWithout: 'argv', pattern: noNul, maxBytes: MAX_STRING_BYTES, note: 'a list of arguments is argv' },
  argv: {
    excludes: 'command',
    maxItems: MAX_ARGUMENTS,
    maxBytes: MAX_ARGV_BYTES,
    items: { pattern: noNul, maxBytes: MAX_STRING_BYTES },
  },
  ...surroundings,
  shell: { ...shell, excludes: 'argv' },
  timeout: { minimum: 0, unit: 'seconds' },
} as const satisfies Constraints;

/** The part of the output that an answer has. */
const shownOutput = { max_output: { minimum: 0 } } as const satisfies Constraints;

/** The command of Exec and ExecStream. */
export const execCommand = {
  ...command,
  ...shownOutput,
  stdin_bytes: { excludes: 'stdin' },
} as const satisfies Constraints;

/** The shell of CreateSession. */
export const newSession = { shell, env: surroundings.env } as const satisfies Constraints;

/** The command of SessionExec and SessionExecStream. */
export const sessionCommand = {
  ...shownOutput,
  command: { required: true, pattern: noNul, maxBytes: MAX_SESSION_COMMAND_BYTES },
  timeout: { minimum: 0, unit: 'seconds' },
} as const satisfies Constraints;

/** Longest time that Node's timers can wait, in seconds. */
const LONGEST_TIMER = 2_147_483;

const terminalSide = { minimum: 1, maximum: 1000, orZero: true } as const satisfies FieldConstraint;

/** Size of a terminal; without one, both sides are 0. */
export const terminalSize = {
  fields: { columns: terminalSide, rows: terminalSide },
} as const satisfies FieldConstraint;

/** Size of a new terminal, the usual one where a side is 0. Without the message there is no terminal. */
const newTerminal = {
  mayBeAbsent: true,
  fields: { columns: { ...terminalSide, default: 80 }, rows: { ...terminalSide, default: 24 } },
} as const satisfies FieldConstraint;

/** The command of StartProcess. */
export const newProcess = {
  ...command,
  process_id: {
    pattern: {
      source: '[A-Za-z0-9][A-Za-z0-9._-]{0,63}',
      problem: 'must have 1 to 64 letters, digits, "-", "_" and ".", the first one a letter or a digit',
    },
  },
  terminal: newTerminal,
  timeout: { minimum: 0, maximum: LONGEST_TIMER, unit: 'seconds' },
  labels,
} as const satisfies Constraints;

/** Number of a port. */
export const portNumber = { port: { minimum: 1, maximum: 65_535 } } as const satisfies Constraints;

/** Offset in the output or the input of a process. */
export const offset = { minimum: 0, unit: 'bytes' } as const satisfies FieldConstraint;

/** What PutSecret stores. No message of these constraints shows the value. */
export const secretFields = {
  value: { required: true, maxBytes: 65_536 },
  hosts: { required: true, ...secretHosts },
  parts: { maxItems: 3, items: { minLength: 1, values: ['header', 'query', 'body'] } },
  shape: placeholderShape,
  header: {
    pattern: {
      source: SECRET_HEADER,
      problem:
        'must be the name of a header in lower case of at most 64 characters, like x-api-key, and not of one that the proxy makes',
    },
  },
} as const satisfies Constraints;
