/** Bytes of the longest UTF-8 sequence. */
export const LONGEST = 4;

const continues = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/** The end of the last complete UTF-8 sequence. */
export function endOfCharacters(bytes: Uint8Array): number {
  let lead = bytes.length - 1;
  while (lead > bytes.length - LONGEST && continues(bytes[lead])) lead--;
  const byte = bytes[lead] ?? 0;
  const length = byte < 0xc0 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
  return lead >= 0 && lead + length > bytes.length ? lead : bytes.length;
}

/** The start of the first complete UTF-8 sequence; 0 if there is none near, which is not UTF-8. */
export function startOfCharacters(bytes: Uint8Array): number {
  let start = 0;
  while (start < LONGEST && continues(bytes[start])) start++;
  return start === LONGEST ? 0 : start;
}
