import type { Permission, PermissionRule } from '../contract/messages.ts';

export interface Preset {
  name: string;
  /** One sentence for people. */
  description: string;
  permissions: readonly PermissionRule[];
}

/**
 * Above the priorities that callers usually give their own rules: a rule that extends a preset reveals a secret only
 * with an explicit higher priority.
 */
const SECRETS_PRIORITY = 1000;

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
  // Its remotes can contain tokens; the hooks and filters it names run outside of the sandbox.
  '**/.git/config',
  '**/.git/config.worktree',
  '**/.git/modules/**/config',
);

/** All presets. CreateSandbox takes the name; the caller's own `permissions` are added to these rules. */
export const PRESETS: readonly Preset[] = [
  {
    name: 'read-only',
    description: 'Everything can be read, nothing can be changed.',
    permissions: [glob('/**', 'PERMISSION_READ', 0)],
  },
  {
    name: 'full-access',
    description: 'Everything can be read and changed.',
    permissions: [glob('/**', 'PERMISSION_WRITE', 0)],
  },
  {
    name: 'agent-safe',
    description: 'Everything but secrets can be read; only /output and /tmp of the codebase can be changed.',
    permissions: [
      glob('/**', 'PERMISSION_READ', 0),
      directory('/output', 'PERMISSION_WRITE', 0),
      directory('/tmp', 'PERMISSION_WRITE', 0),
      ...SECRETS,
    ],
  },
  {
    name: 'development',
    description: 'Everything can be changed but secrets, which are hidden, and git hooks, which can only be read.',
    permissions: [
      glob('/**', 'PERMISSION_WRITE', 0),
      glob('**/.git/hooks/**', 'PERMISSION_READ', SECRETS_PRIORITY),
      glob('**/.git/modules/**/hooks/**', 'PERMISSION_READ', SECRETS_PRIORITY),
      ...SECRETS,
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
