function refuse(): never {
  throw new TypeError('there are no local directories here: give the files as a tar archive');
}

/** In place of `local/index.ts` where there is no file system. */
export { refuse as archiveOf, refuse as pull, refuse as requireUpload };
