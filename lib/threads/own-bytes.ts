/** The parts as bytes with memory of their own: a message to another thread copies all the memory that its bytes are a part of. */
export function ownBytes(parts: readonly Uint8Array[], length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
