/** Bounds of the memory and the time that a policy costs. */
export const MAX_NETWORK_RULES = 256;
export const MAX_PRESETS = 16;
/** Ports of one rule. */
export const MAX_PORTS = 64;
/** Methods of one rule. */
export const MAX_METHODS = 16;
/** Of a name as it is sent, also in Unicode: more than the 253 of a name in ASCII. */
export const MAX_HOST_BYTES = 1024;
export const MAX_CIDR_BYTES = 64;
export const MAX_PATH_BYTES = 2048;
