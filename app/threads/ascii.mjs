/**
 * esbuild leaves other characters in comments and regular expressions, where an escape stands for the same. For a single
 * one of them V8 would hold the whole source at two bytes a character.
 *
 * @param {Uint8Array} contents
 */
export function ascii(contents) {
  const escaped = (/** @type {string} */ character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return Buffer.from(contents)
    .toString()
    .replaceAll(/[^\0-\x7f]/g, escaped);
}
