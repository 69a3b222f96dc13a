import { realpath } from 'node:fs/promises';
import { basename, dirname, resolve, sep } from 'node:path';
import { isPath, type Refusal } from 'paddock-sandbox/local';
import type { Incoming } from '../../../../local-refusals/local-refusal.ts';
import { linkRefusal, repositoryOf } from '../../../../local-refusals/names.ts';
import { runsOnSight } from '../../../../local-refusals/programs.ts';
import { Home } from '../review/home.ts';
import type { Copy } from './copied.ts';

/** Where a copy out of a sandbox arrives: its name counts, too, as it may be the missing part of a repository. */
export class Landing {
  readonly #home: Home;
  readonly #name: string;

  private constructor(home: Home, name: string) {
    this.#home = home;
    this.#name = name;
  }

  /** What is named itself may come, although tools run it. A target in a repository is part of it. */
  static async of(
    path: string,
    { source, local }: { source: { path: string }; local: string },
    { git, allow }: Pick<Copy, 'git' | 'allow'>,
  ): Promise<Landing> {
    const [above, name] = [dirname(resolve(path)), basename(resolve(path))];
    const isNamed = [source.path, basename(local)].some((each) => runsOnSight(each) !== undefined);
    const parts = (await realpath(above)).split(sep);
    const at = parts.findIndex((part) => repositoryOf(part) !== undefined);
    const within = at === -1 ? undefined : parts.slice(at).join('/');
    const allowed = isNamed ? [''] : allow.map((each) => `${name}/${each}`);
    return new Landing(new Home(above, { git, allow: allowed, within }), name);
  }

  /** `path`: below what is copied; empty: itself. A symlink in it leads nowhere else. */
  async refusal({ path, type, target }: Pick<Incoming, 'path' | 'type' | 'target'>): Promise<Refusal | undefined> {
    const full = [this.#name, path].filter((part) => part !== '').join('/');
    // The root directory has no name.
    if (full === '') return undefined;
    if (!isPath(full)) return { reason: 'not a path below the directory' };
    // Several names would be this one here.
    if (full.includes('\ufffd')) return { reason: 'its name is not UTF-8' };
    const reason = type === 'symlink' ? linkRefusal(path || this.#name, target ?? '') : undefined;
    const refusal = reason === undefined ? await this.#home.refusal({ path: full, type }) : { reason };
    if (refusal?.allow === undefined) return refusal;
    return { ...refusal, allow: refusal.allow.slice(this.#name.length + 1) };
  }
}
