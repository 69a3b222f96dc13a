import type { Permission, PermissionRule } from '../contract/messages.ts';
import { PRESET_BASE_PRIORITY, SECRETS_PRIORITY } from './preset-priorities.ts';

export interface Preset {
  name: string;
  /** One sentence for people. */
  description: string;
  permissions: readonly PermissionRule[];
}

/** Names of files that usually contain secrets, in any directory. */
const SECRETS: readonly PermissionRule[] = hidden(
  '**/.env*',
  '**/*.{pem,key,p12,pfx,jks,keystore,kdbx,ppk}',
  '**/id_{rsa,dsa,ecdsa,ed25519,ecdsa_sk,ed25519_sk}',
  '**/{.ssh,.gnupg,.aws,.azure,.kube,.docker,.gcloud}/**',
  '**/{.netrc,_netrc,.pgpass,.my.cnf,.htpasswd,.npmrc,.pypirc,.git-credentials,.vault-token,.dockercfg}',
  '**/{secret,secrets,credential,credentials}/**',
  '**/{secret,secrets,credential,credentials}.{json,yml,yaml,toml,ini,txt,xml,properties,env}',
  '**/{service-account,service_account}*.json',
  '**/*.{tfstate,tfvars}',
  '**/*.tfstate.backup',
);

/**
 * Git does not work without its configuration, whose addresses and headers can contain tokens. It cannot be changed: the
 * hooks and filters that it names run outside of the sandbox, too.
 */
const GIT_CONFIG: readonly PermissionRule[] = [
  '**/.git/config*',
  '**/.git/worktrees/*/config.worktree',
  '**/.git/modules/**/config',
  '**/.git/modules/**/config.worktree',
].map((pattern) => ({
  ...glob(pattern, 'PERMISSION_READ', SECRETS_PRIORITY),
  view: 'redacted',
  redactor: 'gitconfig',
}));

/**
 * What tools write beside the sources, in any directory: the state of git that is a cache, caches, and outputs that can be
 * built again. Their priority is that of callers' rules, so a caller's longer or stricter pattern decides instead.
 */
const SCRATCH: readonly PermissionRule[] = [
  '**/.git/index*',
  '**/.git/logs/**',
  '**/node_modules/.{cache,vite,vitest,vite-temp,tmp}/**',
  '**/{.cache,.parcel-cache,.turbo,.eslintcache,.stylelintcache}/**',
  '**/{vite,vitest,rollup,tsup}.config.*.timestamp-*',
  '**/*.tsbuildinfo',
  '**/{__pycache__,.pytest_cache,.mypy_cache,.ruff_cache,.tox,.nox,.hypothesis,.ipynb_checkpoints}/**',
  '**/{.coverage,.coverage.*,.nyc_output,coverage,htmlcov}/**',
  '**/{dist,.next,.nuxt,.svelte-kit,.output}/**',
].map((pattern) => ({ ...glob(pattern, 'PERMISSION_WRITE', 0), scratch: true }));

/** All presets. CreateSandbox takes the name; the caller's own `permissions` are added to these rules. */
export const PRESETS: readonly Preset[] = [
  {
    name: 'read-only',
    description: 'Everything can be read, nothing can be changed.',
    permissions: [glob('/**', 'PERMISSION_READ', PRESET_BASE_PRIORITY)],
  },
  {
    name: 'full-access',
    description: 'Everything can be read and changed.',
    permissions: [glob('/**', 'PERMISSION_WRITE', PRESET_BASE_PRIORITY)],
  },
  {
    name: 'agent-safe',
    description:
      'Everything but secrets can be read; only /output and /tmp of the codebase can be changed, and caches and build outputs, as scratch. The configuration of git has placeholders. A secret that was ever committed can be read from .git: hide that directory, too, if there is one.',
    permissions: [
      glob('/**', 'PERMISSION_READ', PRESET_BASE_PRIORITY),
      directory('/output', 'PERMISSION_WRITE', 0),
      directory('/tmp', 'PERMISSION_WRITE', 0),
      ...SCRATCH,
      ...SECRETS,
      ...GIT_CONFIG,
    ],
  },
  {
    name: 'development',
    description:
      'Everything can be changed but secrets, which are hidden, and git hooks, which can only be read; caches and build outputs are scratch. The configuration of git can only be read, with placeholders. A secret that was ever committed can be read from .git.',
    permissions: [
      glob('/**', 'PERMISSION_WRITE', PRESET_BASE_PRIORITY),
      ...SCRATCH,
      glob('**/.git/hooks/**', 'PERMISSION_READ', SECRETS_PRIORITY),
      glob('**/.git/modules/**/hooks/**', 'PERMISSION_READ', SECRETS_PRIORITY),
      ...SECRETS,
      ...GIT_CONFIG,
    ],
  },
];

export function findPreset(name: string): Preset | undefined {
  return PRESETS.find((preset) => preset.name === name);
}

function hidden(...patterns: string[]): PermissionRule[] {
  return patterns.map((pattern) => glob(pattern, 'PERMISSION_NONE', SECRETS_PRIORITY));
}

function glob(pattern: string, permission: Permission, priority: number): PermissionRule {
  return { pattern, permission, type: 'PATTERN_GLOB', priority };
}

function directory(pattern: string, permission: Permission, priority: number): PermissionRule {
  return { pattern, permission, type: 'PATTERN_DIRECTORY', priority };
}
