export { archiveOf, type PackOptions, requireDirectory } from './pack.ts';
export { type Pulled, type PullOptions, pull } from './pull.ts';
