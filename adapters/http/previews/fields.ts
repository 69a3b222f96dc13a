/** Fields of one connection (RFC 9110 section 7.6.1). */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Fields by name in lower case. */
export type Fields = Record<string, string | string[]>;

/** Without the fields that its Connection field names: they are of one connection too. */
export function endToEnd(rawHeaders: readonly string[], connection: string | undefined): [string, string][] {
  const named = new Set(
    connection
      ?.toLowerCase()
      .split(',')
      .map((each) => each.trim()),
  );
  const fields: [string, string][] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!.toLowerCase();
    if (!HOP_BY_HOP.has(name) && !named.has(name)) fields.push([name, rawHeaders[at + 1]!]);
  }
  return fields;
}

export function addField(fields: Fields, name: string, value: string): void {
  const before = fields[name];
  if (before === undefined) fields[name] = value;
  else fields[name] = [before, value].flat();
}
