/** Where things are inside every sandbox, whichever launcher made it. */
export const WORKSPACE = '/workspace';
/** The launcher shows the sandbox's agent directory here, read-only. */
export const AGENT_DIR = '/run/agent';
