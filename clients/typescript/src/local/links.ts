import { readdirSync, readlinkSync, realpathSync } from 'node:fs';
import { isAbsolute, join, parse, sep } from 'node:path';
import type { LocalRefusal } from '../contract/messages.ts';
import { ON_SIGHT, REPOSITORIES } from '../contract/on-sight.ts';
import { codeOf } from './owner.ts';
import { folded, isWithin } from './refusal.ts';
import { turns } from './turns.ts';

const globOf = (pattern: string): string => pattern.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '[^/]*');
const anyOf = (patterns: readonly string[]): string => `(^|/)(${patterns.map(globOf).join('|')})`;
/** Those that others of them are below, as `.config`. */
const first = ON_SIGHT.filter((pattern) => pattern.includes('/')).map((pattern) => pattern.split('/')[0]!);
const repository = new RegExp(`${anyOf(REPOSITORIES)}(/|$)`, 's');
const onSight = new RegExp(`${anyOf([...REPOSITORIES, ...ON_SIGHT])}(/|$)|${anyOf(first)}$`, 's');

/** Whether it is what git or a tool looks for, or is below it. */
export const isOnSight = (path: string): boolean => onSight.test(folded(path));

/** Characters that some file system leaves out of names. */
const LEFT_OUT = /\p{Default_Ignorable_Code_Point}|[\u206a-\u206f\ufeff]/gu;

/** Most paths are. */
const PLAIN = /^(?!.*\.(\/|$))[\w/.-]*$/;

/** A path as some file system takes it: without the dots at the end of names, or streams of Windows. */
const meaning = (path: string): string => {
  if (PLAIN.test(path)) return path.toLowerCase();
  const kept = path
    .replace(LEFT_OUT, '')
    .replace(/:[^/]*/g, '')
    .replace(/[. ]+(?=\/|$)/g, '');
  return folded(kept.toUpperCase());
};

/** Of one path; the kernel follows as many. */
const MOST = 40;
/** Of a target from a sandbox, for each of which the kernel is asked. */
const MOST_NAMES = 255;

interface Options {
  /** Of the directories, those that are looked into. */
  enters?: ((path: string) => boolean) | undefined;
  /** Path that targets of symlinks must not lead out of; by default the directory. */
  bounds?: string | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * The symlinks of a local directory. The threat: a tool that runs `.vscode/tasks.json` on sight runs `conf/tasks.json` if
 * `.vscode` leads to `conf`; the server judges the second name only, and does not know what is here.
 */
export class Links {
  readonly #root: string;
  readonly #bounds: string;
  /** Where tools arrive, with the symlink by which they do. */
  readonly #arrivals = new Map<string, string>();
  /** The ways there. */
  readonly #ways = new Map<string, string>();
  /** Names of the longest of them. */
  #depth = 0;

  private constructor(root: string, bounds: string, links: readonly string[]) {
    this.#root = root;
    this.#bounds = meaning(bounds);
    this.#arrive(links);
  }

  /** Looks at the directory now. */
  static async of(directory: string, { enters = () => true, bounds = '', signal }: Options = {}): Promise<Links> {
    const root = realpathSync.native(directory);
    const links: string[] = [];
    const turn = turns(signal);
    for (const waiting = ['']; waiting.length > 0; await turn()) {
      const above = waiting.pop()!;
      for (const entry of entriesOf(join(root, above))) {
        if (entry.isFile()) continue;
        const path = above === '' ? entry.name : `${above}/${entry.name}`;
        if (entry.isSymbolicLink()) links.push(path);
        else if (entry.isDirectory() && enters(path)) waiting.push(path);
      }
    }
    return new Links(root, bounds, links);
  }

  /** Why it does not come: a tool would find it by another name, or its target leads elsewhere by symlinks that are here. */
  refusal(path: string, type: string, target = ''): LocalRefusal | undefined {
    if (type === 'directory') return undefined;
    const never = target === '' ? undefined : this.#refusalOfTarget(path, target);
    if (never !== undefined) return { reason: never, allow: '', git: false };
    if (this.#arrivals.size === 0) return undefined;
    const name = meaning(path);
    const place = prefixesOf(name, this.#depth).find((each) => this.#arrivals.has(each));
    const by = place === undefined ? type === 'symlink' && this.#ways.get(name) : this.#arrivals.get(place);
    if (!by) return undefined;
    const count = place ? place.split('/').length : undefined;
    const allow = path.split('/').slice(0, count).join('/');
    return { reason: `${JSON.stringify(by)} leads to it, which tools run on sight`, allow, git: false };
  }

  #refusalOfTarget(path: string, target: string): string | undefined {
    const found = this.#follow(join(this.#root, path, '..'), target, MOST_NAMES).at(-1);
    const leads = `it is a symlink to ${JSON.stringify(target)}, which leads`;
    if (found === undefined) return `${leads} through more names than are followed`;
    const end = this.#within(found);
    if (end === undefined || !isIn(meaning(end), this.#bounds)) return `${leads} out of the directory by another one`;
    return repository.test(folded(end)) ? `${leads} to a repository by another one` : undefined;
  }

  #arrive(links: readonly string[]): void {
    const waiting = links.filter(isOnSight).map((link) => ({ link, by: link }));
    const left = new Map(waiting.length === 0 ? [] : links.map((link) => [link, meaning(link)]));
    for (const { link, by } of waiting) {
      left.delete(link);
      for (const end of this.#follow(join(this.#root, link, '..'), parse(link).base)) {
        const path = this.#within(end);
        const place = path === undefined ? undefined : meaning(path);
        if (place === undefined || this.#arrivals.has(place)) continue;
        this.#arrivals.set(place, by);
        for (const each of prefixesOf(place)) this.#ways.set(each, by);
        this.#depth = Math.max(this.#depth, place.split('/').length);
        for (const [each, name] of left) if (isIn(name, place) && left.delete(each)) waiting.push({ link: each, by });
      }
    }
  }

  /**
   * Where a path leads to from a directory without symlinks, at last; before it, where it would if a symlink on the way were
   * replaced. At last undefined: nowhere, or through more names.
   */
  #follow(directory: string, path: string, most = Number.POSITIVE_INFINITY): (string | undefined)[] {
    const ends: (string | undefined)[] = [];
    const left = partsOf(path);
    let at = isAbsolute(path) ? parse(path).root : directory;
    for (let looked = 1; left.length > 0; looked++) {
      if (looked > most) return [...ends, undefined];
      const next = join(at, left.shift()!);
      const target = targetOf(next);
      // Nothing is below what is missing, but beside it.
      if (target === undefined && !left.includes('..')) return [...ends, join(next, ...left)];
      if (!target) {
        at = next;
        continue;
      }
      if (ends.length === MOST) return [...ends, undefined];
      ends.push(join(next, ...left));
      if (isAbsolute(target)) at = parse(target).root;
      left.unshift(...partsOf(target));
    }
    return [...ends, at];
  }

  /** From the root. undefined: it is outside. */
  #within(path: string | undefined): string | undefined {
    if (path === undefined) return undefined;
    const [names, root] = [path.split(sep), this.#root.split(sep).filter((name, at) => at === 0 || name !== '')];
    if (root.some((name, at) => folded(names[at] ?? '') !== folded(name))) return undefined;
    return names.slice(root.length).join('/');
  }
}

/** As many of the path and those above it, from the top: "", "a", "a/b". */
const prefixesOf = (path: string, most?: number): string[] => [
  '',
  ...path.split('/', most).map((_, at, names) => names.slice(0, at + 1).join('/')),
];

const isIn = (path: string, above: string): boolean => above === '' || isWithin(path, above);

const partsOf = (path: string): string[] =>
  path
    .slice(parse(path).root.length)
    .split(sep === '/' ? '/' : /[\\/]/)
    .filter((name) => name !== '' && name !== '.');

function entriesOf(path: string) {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch {
    // It is gone, or nobody who runs this can look into it.
    return [];
  }
}

/** Empty: it is no symlink. undefined: there is nothing. */
function targetOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch (error) {
    return ['ENOENT', 'ENOTDIR'].includes(codeOf(error)) ? undefined : '';
  }
}
