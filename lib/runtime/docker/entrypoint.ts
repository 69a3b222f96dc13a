import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type AgentOptions, agentScript } from '../executor/agent-script.ts';
import { AGENT_DIR } from '../executor/places.ts';
import { shellQuote } from '../executor/shell-quote.ts';
import { ENVIRONMENT } from '../sandbox-environment.ts';

export const RESET_SIGNALS: readonly string[] = ['/usr/bin/env', '--default-signal=INT,QUIT'];

/** Of the image's ENV only PATH is kept: the initial environment of commands is otherwise the same in every runtime. */
const environment = [
  '"PATH=$PATH"',
  ...Object.entries(ENVIRONMENT)
    .filter(([name]) => name !== 'PATH')
    .map(assignment),
];

function assignment([name, value]: [string, string]): string {
  return shellQuote(`${name}=${value}`);
}

/** The agent for images whose env(1) cannot reset signals (busybox); their commands ignore SIGINT and SIGQUIT. */
const PLAIN = 'plain';

/**
 * The script for the container's /bin/sh: selects the best agent that the image can run. An image without env(1) keeps
 * its own ENV, and variables that a shell reserves cannot be set for its commands.
 */
export const ENTRYPOINT = [
  'exec </dev/null >/dev/null 2>&1',
  `${RESET_SIGNALS.join(' ')} /bin/sh -c : && exec /usr/bin/env -i ${environment.join(' ')} /bin/sh ${AGENT_DIR}/agent`,
  `/usr/bin/env -i /bin/sh -c : && exec /usr/bin/env -i ${environment.join(' ')} /bin/sh ${AGENT_DIR}/${PLAIN}`,
  'unset HOSTNAME',
  `exec /bin/sh ${AGENT_DIR}/${PLAIN}`,
].join('\n');

/** Writes the agent of images whose env(1) cannot reset signals into the directory of agent files, readable by all. */
export function writePlainAgent(agentDir: string, options: AgentOptions): void {
  writeFileSync(join(agentDir, PLAIN), agentScript({ ...options, resetSignals: [] }), { mode: 0o444 });
}
