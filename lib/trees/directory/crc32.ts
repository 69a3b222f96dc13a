/** CRC-32 of the chars of a name: node's own takes longer to be called than this needs for a name. */
const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  return crc;
});

export function crc32(name: string): number {
  let crc = -1;
  for (let index = 0; index < name.length; index++) crc = TABLE[(crc ^ name.charCodeAt(index)) & 0xff]! ^ (crc >>> 8);
  return ~crc >>> 0;
}
