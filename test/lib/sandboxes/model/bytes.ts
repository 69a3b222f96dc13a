/** As the body of an upload. */
export async function* bytes(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text, 'latin1');
}
