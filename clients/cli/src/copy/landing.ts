import { realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { type Asked, isOnSight, isPath, isWithin, Links, type Refusal, refusalFor } from 'paddock-sandbox/local';
import type { Incoming } from '../../../../local-refusals/local-refusal.ts';
import { linkRefusal, repositoryOf } from '../../../../local-refusals/names.ts';
import { runsOnSight } from '../../../../local-refusals/programs.ts';
import { Home } from '../review/home.ts';
import type { Copy } from './copied.ts';

interface Found {
  /** Without symlinks. */
  place: string;
  links: Links;
  asked: Asked;
}

/** Where a copy out of a sandbox arrives: its name counts, too, as it may be the missing part of a repository. */
export class Landing {
  readonly #home: Home;
  readonly #name: string;
  readonly #found: Found;

  private constructor(home: Home, name: string, found: Found) {
    this.#home = home;
    this.#name = name;
    this.#found = found;
  }

  /** What is named itself may come, although tools run it. A target in a repository is part of it. */
  static async of(
    path: string,
    { source, local, isDirectory }: { source: { path: string }; local: string; isDirectory: boolean },
    { git, allow, signal }: Pick<Copy, 'git' | 'allow' | 'signal'>,
  ): Promise<Landing> {
    const [above, name] = [dirname(resolve(path)), basename(resolve(path))];
    const isNamed = [source.path, basename(local)].some((each) => runsOnSight(each) !== undefined);
    const realAbove = await realpath(above);
    const parts = realAbove.split(sep);
    const at = parts.findIndex((part) => repositoryOf(part) !== undefined);
    const within = at === -1 ? undefined : parts.slice(at).join('/');
    const allowedIn = (base: string) => (isNamed ? [''] : allow.map((each) => `${base}/${each}`));
    const isHere = (await stat(path).catch(() => undefined))?.isDirectory() ?? false;
    const full = isHere ? await realpath(path) : join(realAbove, name);
    const place = basename(full);
    // Not all that is beside the copy: it may be a home directory.
    const enters = (each: string) => isDirectory && (isWithin(each, place) || isOnSight(each));
    const links = await Links.of(dirname(full), { enters, bounds: isDirectory ? place : '', signal });
    const found = { place, links, asked: { git, allow: allowedIn(place) } };
    return new Landing(new Home(above, { git, allow: allowedIn(name), within }), name, found);
  }

  /** `path`: below what is copied; empty: itself. A symlink in it leads nowhere else. */
  async refusal({ path, type, target }: Pick<Incoming, 'path' | 'type' | 'target'>): Promise<Refusal | undefined> {
    const full = below(this.#name, path);
    // The root directory has no name.
    if (full === '') return undefined;
    if (!isPath(full)) return { reason: 'not a path below the directory' };
    // Several names would be this one here.
    if (full.includes('\ufffd')) return { reason: 'its name is not UTF-8' };
    const reason = type === 'symlink' ? linkRefusal(path || this.#name, target ?? '') : undefined;
    if (reason !== undefined) return { reason };
    const refusal = await this.#home.refusal({ path: full, type });
    if (refusal) return refusal.allow === undefined ? refusal : cut(refusal, this.#name);
    return this.#byLinks({ path, type, target });
  }

  #byLinks({ path, type, target }: Pick<Incoming, 'path' | 'type' | 'target'>): Refusal | undefined {
    const { place, links, asked } = this.#found;
    const full = below(place, path);
    const refusal = refusalFor(full, links.refusal(full, type, target), asked);
    if (refusal?.allow === undefined) return refusal;
    return path === '' ? undefined : cut(refusal, place, path);
  }
}

const below = (name: string, path: string): string => [name, path].filter((part) => part !== '').join('/');

/** What must be allowed, below what is copied. `path`: for all of that. */
const cut = (refusal: Refusal, name: string, path = ''): Refusal => ({
  ...refusal,
  allow: refusal.allow?.slice(name.length + 1) || path,
});
