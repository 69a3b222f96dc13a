interface Page {
  readonly nextPageToken: string;
}

/** The elements of all pages. */
export async function* pages<P extends Page, T>(
  fetchPage: (pageToken: string) => Promise<P>,
  elements: (page: P) => readonly T[],
): AsyncGenerator<T, void, void> {
  for (let token = ''; ; ) {
    const page = await fetchPage(token);
    yield* elements(page);
    token = page.nextPageToken;
    if (token === '') return;
  }
}

export async function all<T>(elements: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const each of elements) found.push(each);
  return found;
}

/** Elements of a page, where the caller sees no pages. */
export const PAGE_SIZE = 1000;
