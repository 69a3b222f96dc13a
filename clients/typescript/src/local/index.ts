export type { Pulled } from './changes.ts';
export { archiveOf, type PackOptions, requireUpload } from './pack.ts';
export { type PullOptions, pull } from './pull.ts';
