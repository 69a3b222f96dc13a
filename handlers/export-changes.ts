import { CHANGE_FORMATS } from '../lib/field-values.ts';
import { dataMessages, define } from './define.ts';

/** Messages of one field `data`, and the media type of the bytes in them. */
export interface Export extends AsyncIterable<{ data: Uint8Array }> {
  contentType: string;
}

export const exportChanges = define(
  'ExportChanges',
  { format: { required: true, values: CHANGE_FORMATS } },
  async ({ request }, { services }): Promise<Export> => {
    const bytes = await services.sandboxes.exportChanges(request.sandbox_id, request.format);
    return { contentType: bytes.contentType, [Symbol.asyncIterator]: () => dataMessages(bytes) };
  },
);
