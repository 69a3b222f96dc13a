import { defineWithoutRequest } from './define.ts';

/** Succeeds as long as the server takes requests. */
export const health = defineWithoutRequest(() => ({ status: 'ok' }));
