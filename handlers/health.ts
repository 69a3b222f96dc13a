import { defineWithoutRequest } from './define.ts';

/** Succeeds as long as the server accepts requests. */
export const health = defineWithoutRequest(() => ({ status: 'ok' }));
