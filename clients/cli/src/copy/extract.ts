import { chmodSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { type Member, Place, type Refusal, Tree } from 'paddock-sandbox/local';
import { CliError } from '../command-line/errors.ts';
import { type Copied, nothing } from './copied.ts';
import { below } from './place-of.ts';

type Entry = Pick<Member, 'mode' | 'mtimeMs'>;

/**
 * Writes what is copied to its name in a local directory, or into that itself if the name is empty. The threat: a sandbox
 * chooses the names, and may name one below a symlink that it has sent before, or that is here already; and another user
 * moves a directory out of the target while files arrive.
 */
export class Extraction {
  readonly #tree: Tree;
  readonly #name: string;
  readonly #refusal: (member: Member) => Promise<Refusal | undefined>;
  readonly #copied = nothing();
  readonly #leftOut: ({ path: string } & Refusal)[] = [];
  readonly #directories = new Map<string, Entry>();

  constructor(root: string, name: string, refusal: (member: Member) => Promise<Refusal | undefined>) {
    this.#tree = new Tree(root);
    this.#name = name;
    this.#refusal = refusal;
  }

  /** `path`: empty for what is copied itself. Returns whether it came. */
  async add(member: Member): Promise<boolean> {
    const refusal = await this.#refusal(member);
    if (refusal) {
      this.leaveOut({ path: member.path || this.#name, ...refusal });
      return false;
    }
    const path = member.path === '' ? this.#name : below(this.#name, member.path);
    if (await Place.use(this.#tree, path, (place) => this.#put(place, member).then(() => true))) return true;
    throw new CliError(`${join(this.#tree.root, path, '..')} is not a directory, or is reached by a symbolic link`);
  }

  leaveOut(refused: { path: string } & Refusal): void {
    this.#leftOut.push(refused);
  }

  async #put(place: Place, { path, type, mode, mtimeMs, target, content }: Member): Promise<void> {
    const now = place.type();
    const isReplaced = now === undefined || (type !== 'directory' && (now === 'file' || now === 'symlink'));
    if (!isReplaced && now !== type) {
      const kind = now === 'other' ? 'device or the like' : now;
      throw new CliError(`${join(this.#tree.root, place.path)} is a ${kind}, and would be replaced by a ${type}`);
    }
    const requireStill = () => {
      if (!place.isReached() || place.type() !== now) throw this.#moved(place.path);
    };
    requireStill();
    if (type === 'directory') {
      // For this user, until what is in it has arrived. One that is named keeps its mode.
      if (now === undefined) place.makeDirectory(0o700);
      if (now === undefined || path !== '') this.#directories.set(place.path, { mode, mtimeMs });
      this.#copied.directories += path === '' ? 0 : 1;
    } else if (type === 'symlink') {
      place.link(target, mtimeMs);
      this.#copied.symlinks++;
    } else {
      await place.write(content, { mode: mode & 0o777, mtimeMs }, (_, size) => {
        requireStill();
        this.#copied.bytes += size;
        return true;
      });
      this.#copied.files++;
    }
  }

  /** Modes and times of directories, which what is written into them would change, or forbid. */
  end(): Copied {
    for (const [path, { mode, mtimeMs }] of [...this.#directories].reverse()) {
      const names = path.split('/');
      const directory = this.#tree.open(names);
      try {
        if (directory === undefined || !this.#tree.leadsTo(names, directory)) throw this.#moved(path);
        chmodSync(directory.path, mode);
        utimesSync(directory.path, mtimeMs / 1000, mtimeMs / 1000);
      } finally {
        directory?.close();
      }
    }
    return { ...this.#copied, ...(this.#leftOut.length > 0 && { leftOut: this.#leftOut }) };
  }

  #moved(path: string): CliError {
    return new CliError(`${join(this.#tree.root, path)} was moved or replaced while it was written`);
  }

  /** To be called at last, also after an error. */
  close(): void {
    this.#tree.close();
  }
}
