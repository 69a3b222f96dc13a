/** Paths inside every sandbox, for all launchers. */
export const WORKSPACE = '/workspace';
/** Mount point of the sandbox's agent directory, read-only. */
export const AGENT_DIR = '/run/agent';
