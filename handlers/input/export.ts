import type { ByteStream } from '../../lib/readable-file.ts';
import { dataMessages } from './data-messages.ts';

/** Messages with a field `data`, and the media type of their bytes. Resources are held only while it is iterated. */
export interface Export extends AsyncIterable<{ data: Uint8Array }> {
  readonly contentType: string;
}

export function exported(bytes: ByteStream): Export {
  return { contentType: bytes.contentType, [Symbol.asyncIterator]: () => dataMessages(bytes) };
}
