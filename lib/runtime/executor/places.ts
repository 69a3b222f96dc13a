/** Paths inside every sandbox, for all launchers. */
export const WORKSPACE = '/workspace';
/** Mount point of the sandbox's agent directory, read-only. */
export const AGENT_DIR = '/run/agent';
/** Name in the agent directory of the list of cores that a sandbox's quota is worth; absent without one. */
export const ONLINE = 'online';
/** Name in the agent directory of arguments of java(1) that tell of the limits of the sandbox. */
export const JAVA_OPTIONS = 'java';
