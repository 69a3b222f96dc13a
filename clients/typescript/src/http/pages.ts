import type { Call, Transport } from './transport.ts';

/** Elements of a page, where the caller sees no pages. */
const PAGE_SIZE = 1000;

/** The elements of a list, page by page. `callOf` may throw. */
export async function* elements(transport: Transport, callOf: () => Call): AsyncGenerator<unknown, void, void> {
  const call = callOf();
  const { list = '', pages } = call.row;
  for (let pageToken: string | undefined; pageToken !== ''; ) {
    const request = pages ? { ...call.request, pageSize: PAGE_SIZE, pageToken } : call.request;
    const page = (await transport.json({ ...call, request })) as Record<string, unknown>;
    yield* page[list] as unknown[];
    pageToken = (page.nextPageToken as string | undefined) ?? '';
  }
}
