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


def _tokens(pattern: str, priority: int = -90) -> PermissionRule:
    return _redacted(pattern, "tokens", priority)


def _shown(pattern: str) -> PermissionRule:
    return PermissionRule(pattern, Permission.NONE, PatternType.GLOB, -80, contents="shown")


def _kept(pattern: str) -> PermissionRule:
    return PermissionRule(pattern, Permission.NONE, PatternType.GLOB, -70, contents="kept")


_SCRATCH = (
    _scratch("**/.git/index*"),
    _scratch("**/.git/logs/**"),
    _scratch("**/{node_modules,.venv}/**"),
    _scratch("**/venv/{pyvenv.cfg,.gitignore,lib64}"),
    _scratch("**/venv/{bin,include,lib,share}/**"),
    _scratch("**/{.cache,.parcel-cache,.turbo,.eslintcache,.stylelintcache}/**"),
    _scratch("**/{vite,vitest,rollup,tsup}.config.*.timestamp-*"),
    _scratch("**/*.tsbuildinfo"),
    _scratch(
        "**/{__pycache__,.pytest_cache,.mypy_cache,.ruff_cache,.tox,.nox,.hypothesis,.ipynb_checkpoints}/**"
    ),
    _scratch("**/{.coverage,.coverage.*,.nyc_output,coverage,htmlcov}/**"),
    _scratch("**/{dist,.next,.nuxt,.svelte-kit,.output}/**"),
)

_KEYS = ("*.{pem,key,p8,p12,pfx,jks,keystore,kdbx,ppk}", "id_{rsa,dsa,ecdsa,ed25519,ecdsa_sk,ed25519_sk}")
_ENVIRONMENTS = (".env*", "*.env", ".dev.vars")
_NAMES = (
    "{.netrc,_netrc,.pgpass,.my.cnf,.htpasswd,.npmrc,.pypirc,.git-credentials,.vault-token,.dockercfg}",
    "{secret,secrets,credential,credentials}.{json,yml,yaml,toml,ini,txt,xml,properties,env}",
    "{service-account,service_account}*.json",
    "*.{tfstate,tfvars}",
    "*.tfstate.backup",
)
_DIRECTORIES = "{.docker,secret,secrets,credential,credentials}"
_SOURCES = (
    "{*.{c,cc,cpp,cs,css,cts,go,h,hpp,html,java,js,jsx,kt,less,md,mjs,mts,php,proto,py,pyi,rb,rs,rst,scala,scss,"
    "svelte,swift,ts,tsx,vue},Dockerfile*}"
)
_TESTS = "{test,tests,__tests__,testdata,test-data,fixtures,__fixtures__,spec,specs}"
_INSTALLED = "{node_modules,site-packages,dist-packages}"

_SECRETS = (
    *(_redacted(f"**/{name}") for name in (*_KEYS, *_ENVIRONMENTS, *_NAMES)),
    _redacted("**/.yarnrc.yml", "ini"),
    _redacted("auth.json"),
    _redacted("**/.*/auth.json"),
    _redacted("**/.envs/**", "dotenv", -120),
    _redacted("**/{.ssh,.gnupg,.aws,.azure,.kube,.gcloud}/**", None, -120),
    _redacted(f"**/{_DIRECTORIES}/**", None, -120),
    _redacted("**/.aws/{config,credentials}", "ini", -90),
    _redacted("**/.kube/config", "yaml", -90),
    _tokens("**/.env*.{example,sample,template,dist,defaults}"),
    _tokens("**/{*example*,*sample*,*template*}.env"),
    _tokens("**/.dev.vars.{example,sample,template}"),
    *(_tokens(f"**/{_TESTS}/**/{name}") for name in _NAMES),
    *(_redacted(f"**/{_TESTS}/**/{name}", "ini", -90) for name in _ENVIRONMENTS),
    *(_shown(f"**/{_TESTS}/**/{name}") for name in _KEYS),
    _tokens(f"**/{_DIRECTORIES}/**/{_SOURCES}"),
    _tokens(f"**/{_INSTALLED}/**/{_DIRECTORIES}/**", -119),
    *(_shown(f"**/{_INSTALLED}/**/{name}") for name in (*_KEYS, ".npmrc")),
)

_GIT_CONFIG = (
    "**/.git/config*",
    "**/.git/worktrees/*/config.worktree",
    "**/.git/modules/**/config",
    "**/.git/modules/**/config.worktree",
)
_GIT_PLACES = (
    "**/.git",
    "**/.git/{commondir,gitdir}",
    "**/.git/worktrees/*/{commondir,gitdir}",
    "**/.git/modules/**/{commondir,gitdir}",
)
_GIT = (
    *(_redacted(pattern, "gitconfig") for pattern in _GIT_CONFIG),
    *(_kept(pattern) for pattern in (*_GIT_CONFIG, *_GIT_PLACES)),
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
        *_GIT,
    ),
    "development": (
        PermissionRule("/**", Permission.WRITE, PatternType.GLOB, -100),
        *_SCRATCH,
        _kept("**/.git/hooks/**"),
        _kept("**/.git/modules/**/hooks/**"),
        *_SECRETS,
        *_GIT,
    ),
}
