/** The domain below which each opened port has a host name of its own. */
export interface PreviewDomain {
  name: string;
  /** How browsers reach it: `https:` or `http:`. */
  scheme: string;
  /** With its colon; empty: the default port of the scheme. */
  port: string;
}

/** Ids of sandboxes begin with it. */
const ID_PREFIX = 'sb_';

/** The sandbox and the port that the first label of a host name stands for. */
export function placeOfLabel(label: string): { sandboxId: string; port: number } | undefined {
  const [, port, id] = /^p([1-9]\d{0,4})-([0-9a-z]+)$/.exec(label) ?? [];
  return Number(port) <= 65_535 ? { sandboxId: `${ID_PREFIX}${id}`, port: Number(port) } : undefined;
}

/** Path of this service below which an opened port is reached. */
export const portPath = (sandboxId: string, port: number) => `/v1/sandboxes/${sandboxId}/ports/${port}/proxy/`;

/** Where an opened port is reached: a URL with a domain, otherwise a path of this service. */
export function portUrl(domain: PreviewDomain | undefined, sandboxId: string, port: number): string {
  if (domain === undefined) return portPath(sandboxId, port);
  // The id without the underscore, which host names must not have.
  return `${domain.scheme}//p${port}-${sandboxId.slice(ID_PREFIX.length)}.${domain.name}${domain.port}/`;
}
