import { define } from './define.ts';

/** Answers as long as the server takes requests. */
export const health = define({}, () => ({ status: 'ok' }));
