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

/** Where the proxy of a network listens, for programs that want another port than the network has. */
const PROXY = 'http://127.0.0.1:3128';
const NO_PROXY = 'localhost,127.0.0.1,::1';
const ONLINE: Readonly<Record<string, string>> = {
  HTTP_PROXY: PROXY,
  HTTPS_PROXY: PROXY,
  NO_PROXY,
  http_proxy: PROXY,
  https_proxy: PROXY,
  no_proxy: NO_PROXY,
};

const exported = (variables: Readonly<Record<string, string>>): string =>
  `export ${Object.entries(variables)
    .map(([name, value]) => `${name}=${shellQuote(value)}`)
    .join(' ')}`;

/**
 * A script that each command of a sandbox runs first while its network is open: the agent has started before. `more`: further
 * variables, whose names must be plain.
 */
export function online(more: Readonly<Record<string, string>>): string {
  return `unset ${Object.keys(OFFLINE).join(' ')}\n${exported({ ...ONLINE, ...more })}\n`;
}

/**
 * Lines of the agent's script that set what all commands of a sandbox start with, under the environment of a request. A
 * sandbox without npm or apt-get gets none, so that scripts which look for one do not find it.
 */
export function convenience(hasNetwork: boolean): string[] {
  return [
    exported({ ...VARIABLES, ...(hasNetwork ? {} : OFFLINE) }),
    `command -v apt-get && PATH=${AGENT_DIR}/${APT_DIR}:$PATH`,
    `command -v npm && PATH=${AGENT_DIR}/${NPM_DIR}:$PATH`,
    `export PATH="${AGENT_DIR}/${ALWAYS_DIR}:$PATH"`,
  ];
}
