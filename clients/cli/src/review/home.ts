import { type Asked, Layout, type Links, type Refusal, refusalFor } from 'paddock-sandbox/local';
import { type Incoming, localRefusal } from '../../../../local-refusals/local-refusal.ts';

interface Options extends Asked {
  /** Path of the directory in a repository that it is in. */
  within?: string | undefined;
  /** Symlinks that are there; absent: they are not regarded. */
  links?: Links | undefined;
}

/**
 * What may come to a local directory that is no change of a sandbox, so that no server judges it: copies out of it, and
 * what its commits have.
 */
export class Home {
  readonly #options: Options;
  readonly #layout: Layout;

  constructor(root: string, options: Options) {
    this.#options = options;
    this.#layout = new Layout(root);
  }

  /** Why it may not come, after all that came before. undefined: it may. */
  async refusal({ path, ...more }: Incoming): Promise<Refusal | undefined> {
    const { within, links } = this.#options;
    const above = within === undefined ? '' : `${within}/`;
    const found = localRefusal({ ...more, path: above + path });
    const refusal = found && { ...found, allow: found.allow.slice(above.length) };
    const byLinks = more.isRemoved ? undefined : links?.refusal(path, more.type, more.target);
    const left = refusalFor(path, refusal, this.#options) ?? refusalFor(path, byLinks, this.#options);
    if (left) return left;
    const reason = this.#layout.refusal(path, more.isRemoved ?? false);
    return reason === undefined ? undefined : { reason };
  }
}
