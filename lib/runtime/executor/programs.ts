import { linkSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { errorCode } from '../../linux/errno.ts';
import { AGENT_DIR, ONLINE } from './places.ts';

/** Programs before all others in PATH, and those that are there only if the sandbox has a program of the name. */
export const ALWAYS_DIR = 'bin';
export const APT_DIR = 'apt';
export const NPM_DIR = 'npm';

/** Sets `asked` to the first word that is no option. */
const ASKED = 'asked=; for word in "$@"; do case $word in (-*) ;; (*) asked=$word; break ;; esac; done';

/** Replaces the shell by the next program of the same name in PATH that is not this one, also under another path. */
const NEXT = `own=\${0%/*}; rest=; set -f; IFS=:
for dir in $PATH; do [ "$dir" = "$own" ] || [ "$dir/$name" -ef "$0" ] || rest=$rest\${rest:+:}$dir; done
unset IFS; set +f
next=$(PATH=$rest; command -v "$name")
case $next in (/*) exec "$next" "$@" ;; esac
echo "$name: not found" >&2; exit 127`;

const SUDO = `#!/bin/sh
echo 'sudo: this sandbox has no root user: run the command without sudo, and write to /workspace, /home/sandbox or /tmp' >&2
exit 1
`;

const APT = `#!/bin/sh
name=\${0##*/}
${ASKED}
case $asked in (install|reinstall|update|upgrade|full-upgrade|dist-upgrade|remove|purge|autoremove|build-dep)
  echo "$name: packages cannot be installed in this sandbox, because its system is read-only: use an image or a host that has them, or put the program into /workspace or /home/sandbox" >&2
  exit 100 ;;
esac
${NEXT}
`;

/**
 * `npm ci` empties node_modules before it finds that it cannot fill it again, so it is not run then. A
 * cache that has something in it, or another place of the cache, is left to npm.
 */
const NPM = `#!/bin/sh
name=npm
if [ "$npm_config_offline" = true ]; then
${ASKED}
case $asked in (ci|cit|ic|clean-install|install-clean|isntall-clean|clean-install-test|install-ci-test)
  case " $*" in (*' --cache'*|*' --dry-run'*) cache=yes ;; (*) cache= ;; esac
  [ -d "\${npm_config_cache:-$HOME/.npm}/_cacache/index-v5" ] && cache=yes
  [ -f .npmrc ] && grep -q '^ *cache' .npmrc && cache=yes
  if [ -d node_modules ] && [ -z "$cache" ]; then
    echo 'npm: not run, because npm ci would empty node_modules and this sandbox has no network to fill it again: node_modules is unchanged' >&2
    exit 1
  fi ;;
esac
case $asked in (i|in|ins|inst|install|install-test|it|add|update|up|upgrade|ci|cit|ic|clean-install|exec|x|init|create)
  echo 'npm: this sandbox has no network: only what is in node_modules or in the npm cache can be used' >&2 ;;
esac
fi
${NEXT}
`;

/** nproc(1) of coreutils tells at most this number of OpenMP. Of the quota of CPU it knows nothing. */
const NPROC = `#!/bin/sh
name=nproc
if [ -z "$OMP_THREAD_LIMIT" ] && [ -r ${AGENT_DIR}/${ONLINE} ]; then
  read -r cores <${AGENT_DIR}/${ONLINE}
  export OMP_THREAD_LIMIT=$((\${cores#*-} + 1))
fi
${NEXT}
`;

const PROGRAMS: Readonly<Record<string, { dir: string; text: string }>> = {
  sudo: { dir: ALWAYS_DIR, text: SUDO },
  nproc: { dir: ALWAYS_DIR, text: NPROC },
  'apt-get': { dir: APT_DIR, text: APT },
  npm: { dir: NPM_DIR, text: NPM },
};

/** Name, in the directory of all agent directories, of the files that those share. */
const SHARED = 'programs';

/** Puts the programs into a new agent directory, as links to files that all sandboxes share. */
export function placePrograms(agentDir: string): void {
  for (const dir of [ALWAYS_DIR, APT_DIR, NPM_DIR]) mkdirSync(join(agentDir, dir), { mode: 0o755 });
  for (const [name, { dir, text }] of Object.entries(PROGRAMS)) {
    link(join(dirname(agentDir), SHARED), name, text, join(agentDir, dir, name));
  }
  symlinkSync('apt-get', join(agentDir, APT_DIR, 'apt'));
}

/** Puts the git configuration with the identity of a sandbox into its agent directory. Once. */
export function placeIdentity(agentDir: string, sandboxId: string): void {
  const identity = `[user]\n\tname = agent\n\temail = agent@${sandboxId}\n`;
  writeFileSync(join(agentDir, 'gitconfig'), identity, { mode: 0o444 });
}

/** A file appears whole or not at all. */
function link(shared: string, name: string, text: string, to: string): void {
  const from = join(shared, name);
  try {
    linkSync(from, to);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    mkdirSync(shared, { recursive: true, mode: 0o711 });
    rmSync(`${from}.new`, { force: true });
    writeFileSync(`${from}.new`, text, { mode: 0o555 });
    renameSync(`${from}.new`, from);
    linkSync(from, to);
  }
}

/** Text of git's configuration of the system. What includes nothing is no error. */
export const GIT_INCLUDE = `[include]\n\tpath = ${AGENT_DIR}/gitconfig\n`;
