export { archiveOf, type PackOptions } from './pack.ts';
export { type Pulled, type PullOptions, pull } from './pull.ts';
