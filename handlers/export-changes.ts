import { dataMessages, define, string } from './define.ts';

/** ExportChangesResponse messages. */
export interface Export extends AsyncIterable<{ data: Uint8Array }> {
  contentType: string;
}

export const exportChanges = define(
  { sandbox_id: string, format: string },
  async ({ request }, { services }): Promise<Export> => {
    const bytes = await services.sandboxes.exportChanges(request.sandbox_id, request.format);
    return { contentType: bytes.contentType, [Symbol.asyncIterator]: () => dataMessages(bytes) };
  },
);
