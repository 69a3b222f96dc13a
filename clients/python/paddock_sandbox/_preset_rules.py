"""The presets of the service with their rules. A test compares them with the service's own."""

from __future__ import annotations

from typing import Dict, Tuple

from .messages import PatternType, Permission, PermissionRule


def _scratch(pattern: str) -> PermissionRule:
    return PermissionRule(pattern, Permission.WRITE, PatternType.GLOB, 0, True)


def _hidden(pattern: str) -> PermissionRule:
    return PermissionRule(pattern, Permission.NONE, PatternType.GLOB, 1000)


def _git_config(pattern: str) -> PermissionRule:
    return PermissionRule(
        pattern, Permission.READ, PatternType.GLOB, 1000, view="redacted", redactor="gitconfig"
    )


_SCRATCH = (
    _scratch("**/.git/index*"),
    _scratch("**/.git/logs/**"),
    _scratch("**/node_modules/.{cache,vite,vitest,vite-temp,tmp}/**"),
    _scratch("**/{.cache,.parcel-cache,.turbo,.eslintcache,.stylelintcache}/**"),
    _scratch("**/{vite,vitest,rollup,tsup}.config.*.timestamp-*"),
    _scratch("**/*.tsbuildinfo"),
    _scratch(
        "**/{__pycache__,.pytest_cache,.mypy_cache,.ruff_cache,.tox,.nox,.hypothesis,.ipynb_checkpoints}/**"
    ),
    _scratch("**/{.coverage,.coverage.*,.nyc_output,coverage,htmlcov}/**"),
    _scratch("**/{dist,.next,.nuxt,.svelte-kit,.output}/**"),
)

_SECRETS = (
    _hidden("**/.env*"),
    _hidden("**/*.{pem,key,p12,pfx,jks,keystore,kdbx,ppk}"),
    _hidden("**/id_{rsa,dsa,ecdsa,ed25519,ecdsa_sk,ed25519_sk}"),
    _hidden("**/{.ssh,.gnupg,.aws,.azure,.kube,.docker,.gcloud}/**"),
    _hidden(
        "**/{.netrc,_netrc,.pgpass,.my.cnf,.htpasswd,.npmrc,.pypirc,.git-credentials,.vault-token,.dockercfg}"
    ),
    _hidden("**/{secret,secrets,credential,credentials}/**"),
    _hidden("**/{secret,secrets,credential,credentials}.{json,yml,yaml,toml,ini,txt,xml,properties,env}"),
    _hidden("**/{service-account,service_account}*.json"),
    _hidden("**/*.{tfstate,tfvars}"),
    _hidden("**/*.tfstate.backup"),
)

_GIT_CONFIG = (
    _git_config("**/.git/config*"),
    _git_config("**/.git/worktrees/*/config.worktree"),
    _git_config("**/.git/modules/**/config"),
    _git_config("**/.git/modules/**/config.worktree"),
)

SERVER_PRESETS: Dict[str, Tuple[PermissionRule, ...]] = {
    "read-only": (PermissionRule("/**", Permission.READ, PatternType.GLOB, -100),),
    "full-access": (PermissionRule("/**", Permission.WRITE, PatternType.GLOB, -100),),
    "agent-safe": (
        PermissionRule("/**", Permission.READ, PatternType.GLOB, -100),
        PermissionRule("/output", Permission.WRITE, PatternType.DIRECTORY, 0),
        PermissionRule("/tmp", Permission.WRITE, PatternType.DIRECTORY, 0),
        *_SCRATCH,
        *_SECRETS,
        *_GIT_CONFIG,
    ),
    "development": (
        PermissionRule("/**", Permission.WRITE, PatternType.GLOB, -100),
        *_SCRATCH,
        PermissionRule("**/.git/hooks/**", Permission.READ, PatternType.GLOB, 1000),
        PermissionRule("**/.git/modules/**/hooks/**", Permission.READ, PatternType.GLOB, 1000),
        *_SECRETS,
        *_GIT_CONFIG,
    ),
}
