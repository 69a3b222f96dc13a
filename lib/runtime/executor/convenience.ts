import { AGENT_DIR } from './places.ts';
import { ALWAYS_DIR, APT_DIR, NPM_DIR } from './programs.ts';
import { shellQuote } from './shell-quote.ts';

/** Nobody answers questions or reads pages in a sandbox. */
const VARIABLES: Readonly<Record<string, string>> = {
  CI: 'true',
  DEBIAN_FRONTEND: 'noninteractive',
  GIT_PAGER: 'cat',
  GIT_TERMINAL_PROMPT: '0',
  PAGER: 'cat',
  PIP_DISABLE_PIP_VERSION_CHECK: '1',
  PIP_NO_INPUT: '1',
};

/** Package managers fail at once, instead of trying again for a minute. */
const OFFLINE: Readonly<Record<string, string>> = {
  PIP_NO_INDEX: '1',
  npm_config_audit: 'false',
  npm_config_fetch_retries: '0',
  npm_config_offline: 'true',
  npm_config_update_notifier: 'false',
};

/**
 * Lines of the agent's script that set what all commands of a sandbox start with, under the environment of a request. A
 * sandbox without npm or apt-get gets none, so that scripts which look for one do not find it.
 */
export function convenience(hasNetwork: boolean): string[] {
  const variables = Object.entries({ ...VARIABLES, ...(hasNetwork ? {} : OFFLINE) });
  return [
    `export ${variables.map(([name, value]) => `${name}=${shellQuote(value)}`).join(' ')}`,
    `command -v apt-get && PATH=${AGENT_DIR}/${APT_DIR}:$PATH`,
    `command -v npm && PATH=${AGENT_DIR}/${NPM_DIR}:$PATH`,
    `export PATH="${AGENT_DIR}/${ALWAYS_DIR}:$PATH"`,
  ];
}
