"""The presets of the service with their rules. A test compares them with the service's own."""

from __future__ import annotations

from typing import Dict, Optional, Tuple

from .messages import PatternType, Permission, PermissionRule


def _scratch(pattern: str) -> PermissionRule:
    return PermissionRule(pattern, Permission.WRITE, PatternType.GLOB, 0, True)


def _redacted(pattern: str, redactor: Optional[str] = None, priority: int = -100) -> PermissionRule:
    return PermissionRule(
        pattern, Permission.NONE, PatternType.GLOB, priority, redactor=redactor, contents="redacted"
    )


def _shown(pattern: str) -> PermissionRule:
    return PermissionRule(pattern, Permission.NONE, PatternType.GLOB, -80, contents="shown")


def _git_config(pattern: str) -> PermissionRule:
    return PermissionRule(
        pattern,
        Permission.NONE,
        PatternType.GLOB,
        -70,
        on_write="refuse",
        redactor="gitconfig",
        contents="redacted",
    )


def _kept(pattern: str) -> PermissionRule:
    return PermissionRule(pattern, Permission.NONE, PatternType.GLOB, -70, contents="kept")


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

_KEYS = ("*.{pem,key,p12,pfx,jks,keystore,kdbx,ppk}", "id_{rsa,dsa,ecdsa,ed25519,ecdsa_sk,ed25519_sk}")
_DIRECTORIES = (
    "{.ssh,.gnupg,.aws,.azure,.kube,.docker,.gcloud,secret,secrets,credential,credentials}"
)
_NAMES = (
    ".env*",
    "{.netrc,_netrc,.pgpass,.my.cnf,.htpasswd,.npmrc,.pypirc,.git-credentials,.vault-token,.dockercfg}",
    "{secret,secrets,credential,credentials}.{json,yml,yaml,toml,ini,txt,xml,properties,env}",
    "{service-account,service_account}*.json",
    "*.{tfstate,tfvars}",
    "*.tfstate.backup",
)
_SOURCES = (
    "{*.{c,cc,cpp,cs,css,cts,go,h,hpp,html,java,js,jsx,kt,less,md,mjs,mts,php,proto,py,pyi,rb,rs,rst,scala,scss,"
    "sql,svelte,swift,ts,tsx,vue},Dockerfile*}"
)
_TESTS = "{test,tests,__tests__,testing,testdata,test-data,fixtures,__fixtures__,spec,specs,e2e}"
_INSTALLED = "{node_modules,site-packages,dist-packages,vendor,third_party,bower_components}"

_SECRETS = (
    *(_redacted(f"**/{name}") for name in (*_KEYS, *_NAMES)),
    _redacted(f"**/{_DIRECTORIES}/**"),
    _redacted("**/.aws/{config,credentials}", "ini", -90),
    _redacted("**/.kube/config", "yaml", -90),
    _redacted("**/.env*.{example,sample,template,dist,defaults}", "tokens", -90),
    *(_redacted(f"**/{_TESTS}/**/{name}", "tokens", -90) for name in _NAMES),
    _shown(f"**/{_DIRECTORIES}/**/{_SOURCES}"),
    *(_shown(f"**/{_TESTS}/**/{name}") for name in _KEYS),
    _shown(f"**/{_INSTALLED}/**"),
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
        _kept("**/.git/hooks/**"),
        _kept("**/.git/modules/**/hooks/**"),
        *_SECRETS,
        *_GIT_CONFIG,
    ),
}
