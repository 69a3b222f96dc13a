import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { basename, join, relative } from 'node:path';

/** Installations below a home directory, with nothing beside them that is not the tool's. `*`: one name. */
const IN_HOMES = patterns(
  '.nvm/versions/node/*',
  '.local/share/fnm/node-versions/*/installation',
  '.volta/tools/image/*/*',
  '.pyenv/versions/*',
  '.rbenv/versions/*',
  '.asdf/installs/*/*',
  '.local/share/mise/installs/*/*',
  '.sdkman/candidates/*/*',
  '.local/share/uv/(python|tools)/*',
  '(.local/share|.local)/pipx/venvs/*',
  '.rustup/toolchains/*',
  'sdk/go*',
  '.linuxbrew',
);

const ELSEWHERE = patterns('/opt/*', '/opt/hostedtoolcache/*/*/*');

/** Managers of versions whose shims need what is beside them. Their directory is often a clone, with settings. */
const MANAGERS = ['.pyenv', '.rbenv', '.nodenv', '.goenv', '.asdf', 'mise'];
const MANAGED = ['bin', 'installs', 'lib', 'libexec', 'plugins', 'pyenv.d', 'rbenv.d', 'shims', 'version', 'versions'];

/** All that a virtual environment of Python has. One made in a project has more. */
const VENV = ['bin', 'lib', 'lib64', 'include', 'share', 'pyvenv.cfg', '.gitignore', 'CACHEDIR.TAG', '.lock'];

/** A person works here: sources, and the secrets beside them. */
const WORK =
  /^(\.git|\.hg|\.jj|\.svn|\.env.*|package\.json|Gemfile|pyproject\.toml|setup\.py|Cargo\.toml|go\.mod|composer\.json|pom\.xml|build\.gradle.*)$/;

/** Whether `path` is all of one installation; `home`: the one that it is in. */
export function isInstallation(path: string, home: string | undefined): boolean {
  const entries = entriesOf(path);
  if (entries.some((each) => WORK.test(each))) return false;
  if (entries.includes('conda-meta')) return true;
  if (entries.includes('pyvenv.cfg') && entries.every((each) => VENV.includes(each))) return true;
  const isKnown = home === undefined ? ELSEWHERE.test(path) : IN_HOMES.test(relative(home, path));
  return isKnown && ['lib', 'libexec', 'pkg'].some((each) => entries.includes(each));
}

/** What the shims of a manager of versions need of its directory; undefined: it is none. */
export function managedIn(path: string): string[] | undefined {
  if (!MANAGERS.includes(basename(path))) return undefined;
  const all = MANAGED.map((name) => join(path, name)).filter((each) => existsSync(each) && realpathSync(each) === each);
  return all.some((each) => ['versions', 'installs'].includes(basename(each))) ? all : undefined;
}

export const isWork = (path: string): boolean => entriesOf(path).some((each) => WORK.test(each));

function entriesOf(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

function patterns(...all: string[]): RegExp {
  const sources = all.map((each) => each.replaceAll('.', '\\.').replaceAll('*', '[^/]+'));
  return new RegExp(`^(?:${sources.join('|')})$`);
}
