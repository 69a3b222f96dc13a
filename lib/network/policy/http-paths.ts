/** Rounds of percent decoding: some chains of servers decode more than once. */
const ROUNDS = 4;

/**
 * The ways in which servers read the path of a request: as it is, and decoded, with "\\" as "/", without parameters of
 * components, and again. In each, empty components and "." are dropped, and ".." is applied. undefined: too many times encoded,
 * or with a "#", at which some servers end a path, and which no client sends.
 */
export function readingsOf(path: string): string[] | undefined {
  let text = path.replace(/\?.*$/s, '');
  if (text.includes('#')) return undefined;
  const readings = new Set<string>();
  for (let round = 0; round < ROUNDS; round++) {
    readings.add(applied(text));
    readings.add(applied(text.replaceAll('\\', '/').replace(/;[^/]*/g, '')));
    const decoded = decode(text);
    if (decoded === text) return [...readings];
    text = decoded;
  }
  return undefined;
}

/** The path as it is stored in a rule; undefined: it cannot be a prefix. */
export function canonicalPrefix(prefix: string): string | undefined {
  if (!prefix.startsWith('/') || /[\0-\x20\x7f?#\\;]/.test(prefix)) return undefined;
  const decoded = decode(prefix);
  const read = applied(decoded);
  // What is encoded twice has several readings.
  return readingsOf(read)?.length === 1 ? read : undefined;
}

/** `prefix` is canonical: the path itself, or everything below it. */
export function isBelow(prefix: string, path: string): boolean {
  return prefix === '/' || path === prefix || path.startsWith(`${prefix}/`);
}

/** Invalid sequences stay as they are. */
function decode(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (encoded) => {
    const bytes = Buffer.from(encoded.replaceAll('%', ''), 'hex');
    return bytes.toString('utf8');
  });
}

function applied(path: string): string {
  const components: string[] = [];
  for (const component of path.split('/')) {
    if (component === '' || component === '.') continue;
    if (component === '..') components.pop();
    else components.push(component);
  }
  return `/${components.join('/')}`;
}
