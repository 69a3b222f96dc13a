import type { ByteString } from '../../byte-string.ts';

/** A change at the path cannot be had without others, which are not chosen. */
export class Blocked extends Error {
  readonly path: ByteString;

  constructor(path: ByteString) {
    super('the path is blocked');
    this.path = path;
  }
}
