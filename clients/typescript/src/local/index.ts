export { archiveOf, type PackOptions, requireUpload } from './pack.ts';
export { type Pulled, type PullOptions, pull } from './pull.ts';
