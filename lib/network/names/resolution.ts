import { promises as dns } from 'node:dns';
import { networkInterfaces } from 'node:os';
import { errorCode } from '../../linux/errno.ts';

/** Addresses of a name; undefined: the name does not exist or has none. */
export type Addresses = readonly string[] | undefined;

/** Looks up names outside. */
export interface Resolution {
  /** Rejects if no resolver answers, or too many lookups are in progress for `holder`. */
  resolve(name: string, holder: string): Promise<Addresses>;
}

interface Cached {
  addresses: Addresses;
  /** Milliseconds. */
  until: number;
}

const MAX_CACHED = 8192;
/** Lookups in progress, of one holder and of all. */
const MAX_LOOKUPS = { each: 32, all: 512 };
/** Milliseconds that an answer is kept. */
const KEPT = { least: 5000, most: 300_000, absent: 10_000 };
const MAX_ADDRESSES = 16;

/**
 * Asks the resolvers of the server by c-ares, not getaddrinfo(3): that would hold threads of the pool that the file
 * system uses, and would add the search domains of the host to names. /etc/hosts of the host does not count.
 */
export class OutsideResolution implements Resolution {
  readonly #resolver: dns.Resolver;
  /** In the order of arrival. */
  readonly #cached = new Map<string, Cached>();
  readonly #lookups = new Map<string, Promise<Addresses>>();
  readonly #inProgress = new Map<string, number>();

  /** `servers`: `address` or `address:port`; none: those of the host's resolv.conf. */
  constructor(servers: readonly string[]) {
    this.#resolver = new dns.Resolver({ timeout: 2000, tries: 2 });
    if (servers.length > 0) this.#resolver.setServers(servers);
  }

  async resolve(name: string, holder: string): Promise<Addresses> {
    const cached = this.#cached.get(name);
    if (cached && cached.until > Date.now()) return cached.addresses;
    const lookup = this.#lookups.get(name);
    if (lookup) return lookup;
    const own = this.#inProgress.get(holder) ?? 0;
    if (own >= MAX_LOOKUPS.each || this.#lookups.size >= MAX_LOOKUPS.all) throw new Error('too many lookups');
    this.#inProgress.set(holder, own + 1);
    const started = this.#look(name).finally(() => {
      this.#lookups.delete(name);
      const left = (this.#inProgress.get(holder) ?? 1) - 1;
      if (left > 0) this.#inProgress.set(holder, left);
      else this.#inProgress.delete(holder);
    });
    this.#lookups.set(name, started);
    return started;
  }

  /** One family is enough: the second one is asked where a name has no address of the first. */
  async #look(name: string): Promise<Addresses> {
    for (const family of families()) {
      const found = await this.#ask(name, family);
      if (found === undefined) continue;
      const ttl = Math.min(...found.map((each) => each.ttl)) * 1000;
      const addresses = found.slice(0, MAX_ADDRESSES).map((each) => each.address);
      return this.#keep(name, addresses, Math.min(Math.max(ttl, KEPT.least), KEPT.most));
    }
    return this.#keep(name, undefined, KEPT.absent);
  }

  async #ask(name: string, family: 4 | 6): Promise<{ address: string; ttl: number }[] | undefined> {
    try {
      const options = { ttl: true } as const;
      const found = await (family === 4
        ? this.#resolver.resolve4(name, options)
        : this.#resolver.resolve6(name, options));
      return found.length > 0 ? found : undefined;
    } catch (error) {
      const code = errorCode(error);
      if (code === 'ENOTFOUND' || code === 'ENODATA') return undefined;
      throw error;
    }
  }

  #keep(name: string, addresses: Addresses, milliseconds: number): Addresses {
    this.#cached.delete(name);
    this.#cached.set(name, { addresses, until: Date.now() + milliseconds });
    if (this.#cached.size > MAX_CACHED) this.#cached.delete(this.#cached.keys().next().value as string);
    return addresses;
  }
}

/** IPv6 comes first on a host that has nothing else. */
function families(): readonly (4 | 6)[] {
  const addresses = Object.values(networkInterfaces()).flat();
  return addresses.some((each) => each && !each.internal && each.family === 'IPv4') ? [4, 6] : [6, 4];
}
