import { invalid } from '../invalid.ts';

function refuse(): never {
  throw invalid('local directories need Node.js; pass a tar archive');
}

/** In place of `local/index.ts` where there is no file system. */
export { refuse as archiveOf, refuse as pull, refuse as requireUpload };
