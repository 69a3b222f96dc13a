import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromText } from '../../../lib/byte-string.ts';
import type { PermissionRule } from '../../../lib/contract/messages.ts';
import { ServiceError } from '../../../lib/errors.ts';
import type { Caller } from '../../../lib/fuse/filesystem.ts';
import type { WorkspaceFileSystem } from '../../../lib/workspaces/workspace-file-system.ts';
import type { OpenedFile, Packed } from '../../../lib/workspaces/workspace-files.ts';
import { commitAll } from './commit.ts';
import { Programs } from './programs.ts';
import { outcome, rule, Sandbox } from './sandbox.ts';

const RUNS = Number(process.env.PADDOCK_MODEL_RUNS ?? 30);
const STEPS = 30;

/** In every value of a file with the name `s`, which every set of rules redacts, hides or does not let be read. */
const MARK = 'MarkedSecret';
const redacted = (pattern: string, redactor: string) => ({ ...rule(pattern, 'READ', 9), view: 'redacted', redactor });
const merged = (pattern: string, redactor: string) => ({ ...redacted(pattern, redactor), on_write: 'merge' });
const RULES: readonly (readonly PermissionRule[])[] = [
  [rule('/**', 'WRITE'), redacted('**/s', 'dotenv')],
  [rule('/**', 'WRITE'), redacted('**/s', 'yaml')],
  [rule('/**', 'READ'), rule('a/**', 'WRITE', 1), redacted('**/s', 'all')],
  [rule('/**', 'WRITE'), redacted('**/s', 'dotenv'), rule('a/s', 'NONE', 10), rule('b/**', 'VIEW', 10)],
  [rule('/**', 'WRITE'), redacted('a/**', 'dotenv'), redacted('**/s', 'dotenv')],
  [rule('/**', 'WRITE'), merged('**/s', 'dotenv')],
  [rule('/**', 'WRITE'), merged('**/s', 'dotenv')],
  [rule('/**', 'WRITE'), merged('a/**', 'dotenv'), merged('**/s', 'yaml')],
  [rule('/**', 'READ'), merged('a/**', 'yaml'), redacted('a/b/**', 'yaml'), merged('**/s', 'dotenv')],
];

/** The other sandbox of the mount. */
class Other extends Programs {
  readonly fs: WorkspaceFileSystem;
  readonly workspaceId = 'sb_2';
  readonly caller: Caller = { uid: 4002, gid: 4002, pid: 78 };

  constructor(fs: WorkspaceFileSystem) {
    super();
    this.fs = fs;
  }
}

interface Run {
  s: Sandbox;
  other: Other;
  /** Attaches the other sandbox to the present server. */
  attachOther: () => void;
  layers: string[];
  /** Nodes that programs have open. */
  open: number[];
  made: number;
}

type Step = (run: Run) => unknown;

const name = fc.constantFrom('a', 'b', 's', 't');
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join('/'));
const secretPath = fc.constantFrom('s', 'a/s', 'b/s', 'a/b/s');

const contentOf = (run: Run, form: number) => {
  const value = `${MARK}${run.made++}`;
  return [`# c\nK=${value}\nL="${value} x\n${value}"\n`, `K: ${value}\nL: [${value}, 1]\n`, `${value}\n`][form % 3]!;
};

/** Index in `EDITS`. */
const TO_COMMENTS = 3;

/** What an agent can make of a text with placeholders: any lines of it, at any key and place. */
const EDITS: readonly ((text: string) => string)[] = [
  (text) => `${text}NEW=1\n`,
  (text) => text.split('\n').reverse().join('\n'),
  (text) => text.replace(/^K/gm, 'L'),
  (text) => text.replace(/^([KL])([=:])/gm, '# $1 $2'),
  (text) => text.replace(/^#/gm, ''),
  (text) => `${text}${text}`,
  (text) => text.replace(/pdk/, 'M=pdk'),
  (text) => text.replace(/^.*\n/, ''),
  (text) => `${/\w*pdk\w{24}/.exec(text)?.[0]}: 1\n${/\w*pdk\w{24}/.exec(text)?.[0]}=1\n`,
  (text) => text.replace(/[KL]([:=]) ?(\S+)/g, '$2$1 $2'),
  (text) => text.replace(/["']/g, ''),
  (text) => text.replace(/: /g, '='),
];

/**
 * Without the edits that make comments of assignments, if a rule has another format: an assignment in a comment is a value for
 * dotenv only.
 */
function possible<S extends { text: string }>(sequence: readonly S[], ...starts: readonly number[]): S[] {
  const later = sequence.map(({ text }) => /^rules (\d+)/.exec(text)?.[1]).filter((index) => index !== undefined);
  const isYaml = [...starts, ...later.map(Number)].some((index) => JSON.stringify(RULES[index]).includes('"yaml"'));
  return sequence.filter(({ text }) => !isYaml || !text.startsWith('edit') || !text.includes(` ${TO_COMMENTS} `));
}

/** Commits the first sandbox. What it puts into the codebase has values at paths only that all rules redact. */
function commit({ s }: Run): void {
  commitAll(s);
  for (const at of readdirSync(s.spec.base, { recursive: true, withFileTypes: true })) {
    if (!at.isFile() || at.name === 's') continue;
    expect(readFileSync(join(at.parentPath, at.name), 'utf8')).not.toContain(MARK);
  }
}

function restart(run: Run): void {
  run.open.length = 0;
  run.s.restart();
  run.attachOther();
}

function edit(s: Programs, at: string, by: number, rename: boolean): void {
  const text = EDITS[by]!(s.read(at));
  if (rename) {
    s.create('t', text);
    s.rename('t', at);
    return;
  }
  s.set(at, { size: 0 });
  s.write(at, text);
}

/** As the owner does with the file API: to names only that stay secret. */
function place(run: Run, at: string, content: string): void {
  const handle = run.s.fs.files(run.s.spec.id, 'owner', 'stage', [Buffer.from(content)]) as number;
  run.s.fs.files(run.s.spec.id, 'owner', 'seal', [handle, 0o644, { sec: 1, nsec: run.made }]);
  run.s.fs.files(run.s.spec.id, 'owner', 'place', [handle, at, 0]);
}

/** The result, or the error that a program or a client gets. */
function tried(act: () => string): string {
  let result = '';
  const errno = outcome(() => {
    try {
      result = act();
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      result = error.message;
    }
  });
  return errno === 'ok' ? result : errno;
}

const step = (text: string, act: Step) => ({ text, act });
const agent = (text: string, act: (s: Programs) => unknown) =>
  fc.boolean().map((second) => step(`${text}${second ? ' by sb_2' : ''}`, ({ s, other }) => act(second ? other : s)));

const steps = fc.oneof(
  path.chain((at) => agent(`create ${at}`, (s) => s.create(at, 'K=agent\n'))),
  path.chain((at) => agent(`mkdir ${at}`, (s) => s.mkdir(at))),
  path.chain((at) => agent(`write ${at}`, (s) => s.write(at, 'L=agent\n', 3))),
  path.chain((at) => agent(`truncate ${at}`, (s) => s.set(at, { size: 4 }))),
  path.chain((at) => agent(`unlink ${at}`, (s) => s.unlink(at))),
  fc
    .tuple(path, path, fc.constantFrom(0, 0, 1, 2))
    .chain(([from, to, flags]) => agent(`rename ${from} ${to} ${flags}`, (s) => s.rename(from, to, flags))),
  fc.tuple(path, path).chain(([from, to]) => agent(`link ${from} ${to}`, (s) => s.link(from, to))),
  fc
    .tuple(path, path)
    .chain(([from, to]) => agent(`symlink ${from} ${to}`, (s) => s.symlink(`/workspace/${from}`, to))),
  fc
    .tuple(path, fc.nat(EDITS.length - 1), fc.boolean())
    .chain(([at, by, rename]) => agent(`edit ${at} ${by} ${rename}`, (s) => edit(s, at, by, rename))),
  fc
    .tuple(secretPath, fc.nat(EDITS.length - 1), fc.boolean())
    .chain(([at, by, rename]) => agent(`edit ${at} ${by} ${rename}`, (s) => edit(s, at, by, rename))),
  fc.tuple(secretPath, path).chain(([from, to]) => agent(`copy ${from} ${to}`, (s) => s.create(to, s.read(from)))),
  fc.constant(step('commit', commit)),
  fc.constant(step('commit', commit)),
  fc.constant(step('restart', restart)),
  path.map((at) => step(`open ${at}`, (run) => run.open.push(run.s.id(at)))),
  fc
    .tuple(secretPath, fc.nat(2))
    .map(([at, form]) => step(`owner puts ${at}`, (run) => place(run, at, contentOf(run, form)))),
  fc
    .tuple(secretPath, secretPath)
    .map(([from, to]) =>
      step(`owner moves ${from} ${to}`, ({ s }) => s.fs.files(s.spec.id, 'owner', 'move', [from, to, true])),
    ),
  fc.tuple(secretPath, fc.nat(2)).map(([at, form]) =>
    step(`codebase gets ${at}`, (run) => {
      const changed = [fromText(at)];
      run.s.fs.baseChanging('cb_1', changed);
      run.s.putBase(at, contentOf(run, form));
      run.s.fs.baseChanged('cb_1', changed);
    }),
  ),
  fc.nat(RULES.length - 1).map((which) =>
    step(`rules ${which}`, (run) => {
      run.s.fs.setRules(run.s.spec.id, RULES[which]!);
      run.s.spec = { ...run.s.spec, rules: RULES[which]! };
    }),
  ),
  fc.constant(step('revert', ({ s }) => s.fs.revert(s.spec.id, [fromText('')]))),
  fc.constant(step('checkpoint', ({ s, layers }) => layers.push(s.fs.freeze(s.spec.id).layer))),
  fc.nat(9).map((which) =>
    step(`rollback ${which}`, ({ s, layers }) => {
      if (layers.length > 0) s.fs.rollback(s.spec.id, layers[which % layers.length]!);
    }),
  ),
  fc.constant(
    step('fork', (run) => {
      const { layer } = run.s.fs.freeze(run.s.spec.id);
      run.open.length = 0;
      run.s.goOn({ ...run.s.spec, id: `${run.s.spec.id}x`, delta: `${run.s.spec.delta}x`, origin: layer });
    }),
  ),
  fc.constant(
    step('forget all', ({ s, open }) => {
      s.forgetAll();
      open.length = 0;
    }),
  ),
);

const startRules = fc.nat(RULES.length - 1);

/** Everything that programs and callers as the agent can get. */
function shown({ s, other, open }: Run): string {
  const found: string[] = [];
  const take = (read: () => unknown) => found.push(tried(() => JSON.stringify(read())));
  for (const each of [s, other]) {
    for (const at of pathsOf(each)) {
      take(() => readWhole(each, at));
      take(() => each.readlink(at));
    }
    const files = (operation: 'open' | 'stat' | 'pack', ...args: unknown[]) =>
      each.fs.files(each.workspaceId, 'agent', operation, args);
    take(() => {
      const { entries, data } = files('pack', '', '', 1000) as Packed;
      return [entries, Buffer.from(data).toString()];
    });
    for (const at of pathsOf(each)) {
      take(() => {
        const { data, ...rest } = files('open', at, true) as OpenedFile;
        expect(rest.host === undefined || !/(^|\/)s$/.test(at)).toBe(true);
        return [rest, Buffer.from(data).toString()];
      });
    }
  }
  for (const id of open) take(() => s.readId(id));
  return found.join('\n');
}

/** Also checks that the size is that of what is read. */
function readWhole(s: Programs, at: string): string {
  const id = s.id(at);
  const into = Buffer.alloc(1 << 16);
  const length = s.fs.read(s.caller, id, 0, into);
  expect(s.fs.getattr(s.caller, id).size).toBe(length);
  return into.toString('utf8', 0, length);
}

function pathsOf(s: Programs, at = ''): string[] {
  let names: string[] = [];
  if (outcome(() => (names = s.list(at))) !== 'ok') return [];
  return names.flatMap((each) => {
    const below = at === '' ? each : `${at}/${each}`;
    return [below, ...pathsOf(s, below)];
  });
}

describe('an arbitrary sequence of operations', () => {
  it('shows no value of a redacted file, by any door and in no sandbox', { timeout: 600_000 }, () => {
    fc.assert(
      fc.property(fc.array(steps, { maxLength: STEPS }), startRules, startRules, (sequence, first, second) => {
        const layers = mkdtempSync(join(tmpdir(), 'layers-test-'));
        const base = { s: `K=${MARK}`, 'a/s': `K: ${MARK}\n`, 'a/b/s': `${MARK}`, 'b/t': 'T=plain\n' };
        const s = new Sandbox(base, { rules: [...RULES[first]!], layers });
        try {
          const delta = join(s.home, 'other');
          const attachOther = () => {
            s.fs.attach({ ...s.spec, id: 'sb_2', delta, uid: 4002, rules: [...RULES[second]!] });
            run.other = new Other(s.fs);
          };
          const run = { s, layers: [], open: [], made: 0, attachOther } as unknown as Run;
          attachOther();
          const done: string[] = [];
          for (const { text, act } of possible(sequence, first, second)) {
            done.push(`${text}: ${tried(() => String(act(run) ?? 'ok').slice(0, 40))}`);
            const found = shown(run);
            if (found.includes(MARK)) throw new Error(`${done.join('; ')}\n${found}`);
          }
          s.fs.detach('sb_2');
        } finally {
          s.remove();
          rmSync(layers, { recursive: true });
        }
      }),
      { numRuns: RUNS },
    );
  });
});
