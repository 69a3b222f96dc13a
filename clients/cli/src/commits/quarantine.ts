import { execFile } from 'node:child_process';
import { chown, mkdtemp, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CliError } from '../command-line/errors.ts';
import { Git } from './git.ts';
import type { HostRepository } from './host.ts';
import { MOST_PACK_BYTES } from './inside.ts';

/**
 * An empty repository beside that of the user, whose objects it can see. The threat: the pack is hostile. It is read and
 * checked here, with no configuration but this one, and nothing of it is in the user's repository before that.
 */
export class Quarantine {
  readonly git: Git;
  readonly #home: string;
  readonly #directory: string;
  readonly #host: HostRepository;
  #pack: string | undefined;

  private constructor(home: string, host: HostRepository) {
    this.#home = home;
    this.#directory = join(home, 'git');
    this.#host = host;
    const { objects: alternate, shallowFile, owner, path } = host;
    this.git = new Git({ directory: this.#directory, alternate, shallowFile, owner, path });
  }

  static async open(host: HostRepository, signal: AbortSignal): Promise<Quarantine> {
    const { owner, path, format, isPartial } = host;
    const home = await mkdtemp(join(tmpdir(), 'paddock-commits-'));
    const quarantine = new Quarantine(home, host);
    try {
      if (owner) await chown(home, owner.uid, owner.gid);
      const hash = format === 'sha1' ? [] : [`--object-format=${format}`];
      const args = ['init', '-q', '--bare', '--template=', ...hash, quarantine.#directory];
      await new Git({ directory: home, owner, path }).run(args, { signal });
      // What is missing in the user's repository may be missing here, and no remote is asked for it.
      if (isPartial) for (const [name, value] of PARTIAL) await quarantine.git.run(['config', name, value], { signal });
      return quarantine;
    } catch (error) {
      await quarantine.close();
      throw error;
    }
  }

  /** Takes a pack whose objects are well-formed and have no names that git refuses. Throws GitError. */
  async receive(pack: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void> {
    const limit = `--max-input-size=${MOST_PACK_BYTES}`;
    const args = ['index-pack', '--stdin', '--fix-thin', '--strict', limit];
    const name = (await this.git.text(args, { input: pack, signal })).trim().split('\t')[1];
    if (!/^[0-9a-f]+$/.test(name ?? '')) throw new CliError('git did not name the pack that it stored');
    this.#pack = join(this.#directory, 'objects/pack', `pack-${name}.pack`);
  }

  /** Stores the objects in the repository of the user. Its git reads them once more. */
  async release(signal: AbortSignal): Promise<void> {
    await this.#host.git.run(['index-pack', '--stdin'], { input: { file: this.#pack! }, signal });
  }

  /** What is in it is the owner's, so root does not walk it. */
  async close(): Promise<void> {
    await promisify(execFile)('/bin/rm', ['-rf', this.#directory], { ...this.#host.owner, cwd: '/' });
    await rmdir(this.#home);
  }
}

const PARTIAL = [
  ['core.repositoryFormatVersion', '1'],
  ['extensions.partialClone', 'origin'],
  ['remote.origin.promisor', 'true'],
] as const;
