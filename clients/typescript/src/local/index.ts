export { archiveOf, type PackOptions } from './pack.ts';
