import type { Permission, PermissionRule } from '../contract/messages.ts';
import { PRESET_BASE_PRIORITY, PROTECTED_PRIORITY, SECRETS_PRIORITY } from './preset-priorities.ts';
import { SECRETS } from './preset-secrets.ts';

export interface Preset {
  name: string;
  /** One sentence for people. */
  description: string;
  permissions: readonly PermissionRule[];
}

const CONFIG = [
  '**/.git/config*',
  '**/.git/worktrees/*/config.worktree',
  '**/.git/modules/**/config',
  '**/.git/modules/**/config.worktree',
];

/**
 * Git does not work without its configuration, whose addresses and headers can contain tokens. It cannot be changed: the
 * hooks and filters that it names run outside of the sandbox, too. Nor can what says where the configuration is, which a
 * file `.git` does, too.
 */
const GIT_CONFIG: readonly PermissionRule[] = [
  ...CONFIG.map(
    (pattern): PermissionRule => ({
      ...glob(pattern, 'PERMISSION_NONE', SECRETS_PRIORITY),
      contents: 'redacted',
      redactor: 'gitconfig',
    }),
  ),
  ...CONFIG.map(kept),
  ...[
    '**/.git',
    '**/.git/{commondir,gitdir}',
    '**/.git/worktrees/*/{commondir,gitdir}',
    '**/.git/modules/**/{commondir,gitdir}',
  ].map(kept),
];

const GIT_HOOKS: readonly PermissionRule[] = ['**/.git/hooks/**', '**/.git/modules/**/hooks/**'].map(kept);

/**
 * What tools write beside the sources, in any directory: the state of git that is a cache, installed dependencies, caches, and
 * outputs that can be built again. Their priority is that of callers' rules, so a caller's longer or stricter pattern decides instead.
 */
const SCRATCH: readonly PermissionRule[] = [
  '**/.git/index*',
  '**/.git/logs/**',
  '**/{node_modules,.venv}/**',
  // Of a virtualenv with a name that sources may have, only what venv makes.
  '**/venv/{pyvenv.cfg,.gitignore,lib64}',
  '**/venv/{bin,include,lib,share}/**',
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
      'Everything can be read, with placeholders in place of secrets; only /output and /tmp of the codebase can be changed, and dependencies, caches and build outputs, as scratch. A secret that was ever committed can be read from .git: hide that directory, too, if there is one.',
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
      'Everything can be changed but git hooks and the configuration of git, which can only be read; secrets have placeholders; dependencies, caches and build outputs are scratch. A secret that was ever committed can be read from .git.',
    permissions: [
      glob('/**', 'PERMISSION_WRITE', PRESET_BASE_PRIORITY),
      ...SCRATCH,
      ...GIT_HOOKS,
      ...SECRETS,
      ...GIT_CONFIG,
    ],
  },
];

export function findPreset(name: string): Preset | undefined {
  return PRESETS.find((preset) => preset.name === name);
}

function kept(pattern: string): PermissionRule {
  return { ...glob(pattern, 'PERMISSION_NONE', PROTECTED_PRIORITY), contents: 'kept' };
}

function glob(pattern: string, permission: Permission, priority: number): PermissionRule {
  return { pattern, permission, type: 'PATTERN_GLOB', priority };
}

function directory(pattern: string, permission: Permission, priority: number): PermissionRule {
  return { pattern, permission, type: 'PATTERN_DIRECTORY', priority };
}
