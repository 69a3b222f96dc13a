import type { Sandbox } from 'paddock-sandbox';
import { CliError } from '../command-line/errors.ts';
import { NAME_LABEL } from '../names/sandboxes.ts';
import { namePart, setBranches, type Target, targetOf } from './branches.ts';
import { type Contents, contentsOf } from './contents.ts';
import type { HostRepository } from './host.ts';
import { askInside, type Sent, type Tip } from './inside.ts';
import { Quarantine } from './quarantine.ts';

/** Commits of a branch of the sandbox that are not here. */
export interface NewBranch extends Tip {
  /** Its branch in the sandbox, also if `from` is HEAD. */
  label: string;
  count: number;
  /** The newest ones: "1a2b3c4 Fix the login". They are not printable as they are. */
  lines: readonly string[];
}

const MOST_COMMITS = 10_000;
const MOST_LINES = 20;
/** Characters of an id that name a sandbox. */
const SHORT = 11;

interface Options {
  /** As of `pull`. */
  allow: readonly string[];
  signal: AbortSignal;
}

/** What the sandbox committed, checked and held apart until `take`. To be closed. */
export class Commits {
  readonly branches: readonly NewBranch[];
  readonly contents: Contents;
  readonly host: HostRepository;
  readonly #quarantine: Quarantine;
  readonly #name: string;

  private constructor(
    { branches, contents, host }: Pick<Commits, 'branches' | 'contents' | 'host'>,
    quarantine: Quarantine,
    name: string,
  ) {
    this.branches = branches;
    this.contents = contents;
    this.host = host;
    this.#quarantine = quarantine;
    this.#name = name;
  }

  /** undefined: the repository here has all its commits. */
  static async of(sandbox: Sandbox, host: HostRepository, options: Options): Promise<Commits | undefined> {
    const sent = await askInside(sandbox, host.known, options.signal);
    try {
      const known = new Set(host.known);
      if (sent.tips.every(({ commit }) => known.has(commit))) return undefined;
      const { id, labels } = sandbox.info;
      return await Commits.#checked(sent, host, namePart(labels[NAME_LABEL] ?? id.slice(0, SHORT)), options);
    } finally {
      await sent.close();
    }
  }

  static async #checked(
    { tips, pack }: Sent,
    host: HostRepository,
    name: string,
    { allow, signal }: Options,
  ): Promise<Commits | undefined> {
    const quarantine = await Quarantine.open(host, signal);
    try {
      await quarantine.receive(pack, signal);
      const branches = await newBranches(quarantine, host, tips, signal);
      if (branches.length > 0) {
        const list = await revisions(quarantine, host, branches, signal);
        const contents = await contentsOf(quarantine.git, list, { directory: host.directory, allow, signal });
        return new Commits({ branches, contents, host }, quarantine, name);
      }
    } catch (error) {
      await quarantine.close();
      throw error;
    }
    await quarantine.close();
    return undefined;
  }

  /** The names that the branches get. */
  async targets(signal: AbortSignal): Promise<Target[]> {
    const taken = new Set<string>();
    const targets: Target[] = [];
    for (const { commit, from } of this.branches) {
      const name = from === 'HEAD' ? this.#name : `${this.#name}-${namePart(from)}`;
      const isAncestor = (at: string) =>
        this.#quarantine.git.run(['merge-base', '--is-ancestor', at, commit], { signal }).then(
          () => true,
          () => false,
        );
      const target = await targetOf(this.host, { name, commit, taken, isAncestor, signal });
      taken.add(target.branch);
      targets.push(target);
    }
    return targets;
  }

  /** Stores the objects here, and sets the branches. No file, no index and no other branch is changed. */
  async take(targets: readonly Target[], signal: AbortSignal): Promise<void> {
    await this.#quarantine.release(signal);
    await setBranches(this.host, targets, signal);
  }

  close(): Promise<void> {
    return this.#quarantine.close();
  }
}

/** Each with what the ones before have not. Tips whose commit is here already, reachable or not, are none. */
async function newBranches(
  { git }: Quarantine,
  host: HostRepository,
  tips: readonly Tip[],
  signal: AbortSignal,
): Promise<NewBranch[]> {
  const input = tips.map(({ commit }) => `${commit}\n`).join('');
  const typesIn = async (of: typeof git) =>
    (await of.text(['cat-file', '--batch-check=%(objecttype)'], { input, signal })).split('\n');
  const [types, here] = [await typesIn(git), await typesIn(host.git)];
  const branches: NewBranch[] = [];
  for (const [at, tip] of tips.entries()) {
    if (here[at]?.endsWith(' missing') !== true) continue;
    if (types[at] !== 'commit') throw new CliError('the sandbox sent a branch without its commit');
    const excluded = branches.map(({ commit }) => commit);
    const range = rangeOf(host, [tip.commit], excluded);
    const count = Number(
      await git.text(['rev-list', '--count', '--ignore-missing', '--stdin'], { input: range, signal }),
    );
    if (count === 0) continue;
    const shown = ['log', '--format=%h %s', '-z', `--max-count=${MOST_LINES}`, '--encoding=UTF-8'];
    const log = await git.text([...shown, '--no-show-signature', '--ignore-missing', '--stdin'], {
      input: range,
      signal,
    });
    const label = tips.findLast(({ commit }) => commit === tip.commit)!.from;
    branches.push({ ...tip, label, count, lines: log.split('\0').filter((line) => line !== '') });
  }
  return branches;
}

/** All new commits. Throws GitError if one of their objects is neither new nor here. */
async function revisions(
  { git }: Quarantine,
  host: HostRepository,
  branches: readonly NewBranch[],
  signal: AbortSignal,
): Promise<string[]> {
  const input = rangeOf(
    host,
    branches.map(({ commit }) => commit),
  );
  const partial = host.isPartial ? ['--exclude-promisor-objects'] : [];
  const args = ['rev-list', '--stdin', '--ignore-missing'];
  await git.run([...args, '--objects', '--quiet', ...partial], { input, signal });
  const list = (await git.text([...args, `--max-count=${MOST_COMMITS + 1}`], { input, signal })).split('\n');
  const commits = list.filter((line) => line !== '');
  if (commits.length > MOST_COMMITS) throw new CliError(`it has more than ${MOST_COMMITS} new commits`);
  return commits;
}

const rangeOf = ({ known }: HostRepository, tips: readonly string[], excluded: readonly string[] = []): string =>
  [...tips, ...[...known, ...excluded].map((commit) => `^${commit}`)].map((line) => `${line}\n`).join('');
