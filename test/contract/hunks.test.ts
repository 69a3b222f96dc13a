import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import type { Codebase, FileChange, Sandbox } from '../../lib/contract/messages.ts';
import { EVERYTHING, hide, read, view } from './rules.ts';
import { expectRefusal, type Scene } from './scene.ts';
import { type Case, contract } from './suite.ts';

const LINES = Array.from({ length: 20 }, (_, index) => `line ${index + 1}\n`);
const TEXT = LINES.join('');
/** Two hunks: one line replaced, and one added at the end without its line's end. */
const EDIT = "sed -i 's/^line 5$/five/' a.txt && printf 'last' >> a.txt";
const EDITED = `${TEXT.replace('line 5\n', 'five\n')}last`;

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const listed = async (scene: Scene, { id }: Sandbox, more: object = {}): Promise<readonly FileChange[]> =>
  (await scene.client.call('ListChanges', { sandbox_id: id, diff: true, ...more })).changes;
const chosen = ({ path, diff }: FileChange, indexes: readonly number[]) => ({
  path,
  base_sha256: diff!.base_sha256,
  sha256: diff!.sha256,
  indexes,
});
const names = async (scene: Scene, { id }: Codebase): Promise<readonly string[]> => {
  const { files } = await scene.client.call('ListFiles', { codebase_id: id, recursive: true });
  return files.map(({ path }) => path);
};
const commit = (scene: Scene, { id }: Sandbox, more: object = {}) =>
  scene.client.call('Commit', { sandbox_id: id, ...more });

/** The same to a renamed file, which is written in place: one that replaces it is a new file. */
const renamed = (path: string): string =>
  `mv a.txt ${path} && sed 's/^line 5$/five/' ${path} > /tmp/new && printf 'last' >> /tmp/new && cat /tmp/new > ${path}`;

async function edited(scene: Scene, more: Record<string, string> = {}) {
  const codebase = await scene.codebase({ 'a.txt': TEXT, ...more });
  const sandbox = await scene.sandbox(codebase);
  await scene.output(sandbox, EDIT);
  const [change] = await listed(scene, sandbox);
  return { codebase, sandbox, change: change! };
}

const cases: Case[] = [
  {
    name: 'a list of changes with diff has the hunks of a modified text file, and the digests of both versions',
    async run(scene) {
      const { change } = await edited(scene);
      expect(change).toMatchObject({ path: 'a.txt', kind: 'CHANGE_MODIFIED' });
      expect(change.diff).toEqual({
        base_sha256: sha256(TEXT),
        sha256: sha256(EDITED),
        no_hunks: '',
        base_mode: 0o644,
        hunks: [
          {
            old_start: 5,
            old_lines: 1,
            new_start: 5,
            new_lines: 1,
            before: LINES.slice(1, 4).join(''),
            removed: 'line 5\n',
            added: 'five\n',
            after: LINES.slice(5, 8).join(''),
          },
          {
            old_start: 21,
            old_lines: 0,
            new_start: 21,
            new_lines: 1,
            before: LINES.slice(17).join(''),
            removed: '',
            added: 'last',
            after: '',
          },
        ],
      });
    },
  },
  {
    name: 'without diff, and for what is not modified, there is no diff',
    async run(scene) {
      const sandbox = await scene.sandboxOn({ 'a.txt': TEXT, b: 'b', c: 'c' });
      await scene.output(sandbox, `${EDIT}; rm b; chmod 755 c; echo new > d`);
      const { changes } = await scene.client.call('ListChanges', { sandbox_id: sandbox.id });
      expect(changes.map(({ diff }) => diff ?? undefined)).toEqual([undefined, undefined, undefined, undefined]);
      const compared = (await listed(scene, sandbox)).filter(({ diff }) => diff);
      expect(compared.map(({ path }) => path)).toEqual(['a.txt']);
    },
  },
  {
    name: 'a binary file, a large one, one with placeholders and one that the rules only list have no hunks, and say why',
    async run(scene) {
      const large = 'x\n'.repeat(300_000);
      const files = {
        bin: Buffer.of(0, 1, 2),
        latin: Buffer.of(0xe9, 10),
        large,
        '.env': 'KEY=value\n',
        listed: 'a\n',
      };
      const codebase = await scene.codebase(files);
      const sandbox = await scene.sandbox(codebase, EVERYTHING);
      await scene.output(sandbox, 'for each in bin latin large .env listed; do echo more >> $each; done');
      const rules = [...EVERYTHING, { ...read('.env', 1), view: 'redacted' }, view('listed', 1)];
      await scene.client.call('UpdatePermissions', { sandbox_id: sandbox.id, permissions: rules });
      const reasons = async (more: object) =>
        Object.fromEntries((await listed(scene, sandbox, more)).map(({ path, diff }) => [path, diff?.no_hunks]));
      const known = { bin: 'binary', latin: 'binary', large: 'large', '.env': 'placeholders' };
      expect(await reasons({ as: 'agent' })).toEqual({ ...known, listed: 'unreadable' });
      expect(await reasons({ as: 'owner' })).toEqual({ ...known, listed: '' });
    },
  },
  {
    name: 'a page with large diffs ends early, and all pages together have all changes',
    async run(scene) {
      const text = `${'a'.repeat(1023)}\n`.repeat(400);
      const names = ['a', 'b', 'c', 'd', 'e', 'f'];
      const sandbox = await scene.sandboxOn(Object.fromEntries(names.map((name) => [name, text])));
      await scene.output(sandbox, `for each in ${names.join(' ')}; do sed -i s/a/b/ $each; done`);
      const found: string[] = [];
      const request = { sandbox_id: sandbox.id, diff: true };
      let pages = 0;
      for (let page_token = ''; pages === 0 || page_token !== ''; pages++) {
        const page = await scene.client.call('ListChanges', { ...request, page_token });
        found.push(...page.changes.map(({ path }) => path));
        page_token = page.next_page_token;
      }
      expect(found).toEqual(names);
      expect(pages).toBeGreaterThan(1);
    },
  },
  {
    name: 'a page of many large binary files ends early, too',
    async run(scene) {
      const sandbox = await scene.sandboxOn({});
      const names = Array.from({ length: 40 }, (_, index) => `f${index + 10}`);
      await scene.output(sandbox, `for n in ${names.join(' ')}; do head -c 500000 /dev/zero > $n; done`);
      await commit(scene, sandbox);
      await scene.output(sandbox, `for n in ${names.join(' ')}; do echo x >> $n; done`);
      const first = await scene.client.call('ListChanges', { sandbox_id: sandbox.id, diff: true });
      expect(first.changes.length).toBeLessThan(names.length);
      const next = { sandbox_id: sandbox.id, diff: true, page_token: first.next_page_token };
      const { changes: rest } = await scene.client.call('ListChanges', next);
      expect(rest[0]!.path).toBe(names[first.changes.length]);
      expect(first.changes.every(({ diff }) => diff?.no_hunks === 'binary')).toBe(true);
    },
  },
  {
    name: 'a commit of one hunk takes only that, and the other stays a change without a conflict',
    async run(scene) {
      const { codebase, sandbox, change } = await edited(scene, { b: 'b\n' });
      await scene.output(sandbox, 'echo more >> b; chmod 755 a.txt');
      const answer = await commit(scene, sandbox, { hunks: [chosen(change, [0])] });
      expect(answer).toMatchObject({ committed: true, count: 1, changes: [{ path: 'a.txt', conflict: false }] });
      expect(await scene.content(codebase, 'a.txt')).toBe(TEXT.replace('line 5\n', 'five\n'));
      expect(await scene.content(codebase, 'b')).toBe('b\n');
      expect(await scene.output(sandbox, 'cat a.txt; stat -c %a a.txt')).toBe(`${EDITED}755\n`);
      const rest = await listed(scene, sandbox);
      expect(rest.map(({ path, conflict }) => [path, conflict])).toEqual([
        ['a.txt', false],
        ['b', false],
      ]);
      expect(rest[0]!.diff!.hunks.map(({ added }) => added)).toEqual(['last']);
      expect(rest[0]).toMatchObject({ mode: 0o755, base_mode: 0o644 });
      await commit(scene, sandbox);
      expect(await scene.content(codebase, 'a.txt')).toBe(EDITED);
      expect(await listed(scene, sandbox)).toEqual([]);
    },
  },
  {
    name: 'hunks and paths are committed together, from a stopped sandbox too, and a restart keeps what stays',
    async run(scene) {
      const { codebase, sandbox, change } = await edited(scene, { b: 'b\n', c: 'c\n' });
      await scene.output(sandbox, 'echo more >> b; echo more >> c');
      await scene.client.call('StopSandbox', { sandbox_id: sandbox.id });
      expect(await commit(scene, sandbox, { paths: ['b'], hunks: [chosen(change, [1])] })).toMatchObject({ count: 2 });
      expect(await scene.content(codebase, 'a.txt')).toBe(`${TEXT}last`);
      expect(await scene.content(codebase, 'b')).toBe('b\nmore\n');
      await scene.client.call('StartSandbox', { sandbox_id: sandbox.id });
      expect(await scene.output(sandbox, 'cat a.txt')).toBe(EDITED);
      expect((await listed(scene, sandbox)).map(({ path }) => path)).toEqual(['a.txt', 'c']);
    },
  },
  {
    name: 'a dry run of hunks answers with what would be committed, and changes nothing',
    async run(scene) {
      const { codebase, sandbox, change } = await edited(scene);
      const answer = await commit(scene, sandbox, { hunks: [chosen(change, [0])], dry_run: true });
      expect(answer).toMatchObject({ committed: false, count: 1, changes: [{ path: 'a.txt', size: TEXT.length - 2 }] });
      expect(await scene.content(codebase, 'a.txt')).toBe(TEXT);
    },
  },
  {
    name: 'hunks of a version that the sandbox or the codebase no longer has are refused, and nothing is committed',
    async run(scene) {
      const { codebase, sandbox, change } = await edited(scene, { b: 'b\n' });
      await scene.output(sandbox, 'echo more >> a.txt; echo more >> b');
      const request = { paths: ['b'], hunks: [chosen(change, [0])] };
      await expectRefusal(commit(scene, sandbox, request), 'FAILED_PRECONDITION', /^hunks\[0\]\.sha256: .*a\.txt/);
      expect(await scene.content(codebase, 'b')).toBe('b\n');
      const { diff } = (await listed(scene, sandbox))[0]!;
      const other = { ...request, hunks: [{ ...chosen(change, [0]), sha256: diff!.sha256, base_sha256: sha256('') }] };
      await expectRefusal(commit(scene, sandbox, other), 'FAILED_PRECONDITION', /^hunks\[0\]\.base_sha256: /);
    },
  },
  {
    name: 'hunks of a file in conflict are refused as the file is, and taken with ours',
    async run(scene) {
      const { codebase, sandbox } = await edited(scene);
      await scene.client.upload(codebase.id, 'a.txt', `${TEXT}theirs\n`);
      const [change] = await listed(scene, sandbox);
      expect(change).toMatchObject({ conflict: true });
      const hunks = [chosen(change!, [0])];
      await expectRefusal(commit(scene, sandbox, { hunks }), 'ABORTED', /a\.txt/);
      const theirs = commit(scene, sandbox, { hunks, on_conflict: 'theirs' });
      await expectRefusal(theirs, 'FAILED_PRECONDITION', /^hunks\[0\]\.path: "a\.txt" is in conflict/);
      expect(await commit(scene, sandbox, { hunks, on_conflict: 'ours' })).toMatchObject({ committed: true, count: 1 });
      expect(await scene.content(codebase, 'a.txt')).toBe(`${TEXT.replace('line 5\n', 'five\n')}theirs\n`);
      expect((await listed(scene, sandbox)).map(({ conflict }) => conflict)).toEqual([false]);
    },
  },
  {
    name: 'a renamed file has hunks against its old name, and a choice of them commits the rename with these alone',
    async run(scene) {
      const codebase = await scene.codebase({ 'a.txt': TEXT, c: 'c\n' });
      const sandbox = await scene.sandbox(codebase);
      await scene.output(sandbox, `mkdir d && ${renamed('d/b')} && chmod 755 d/b && echo more >> c`);
      const change = (await listed(scene, sandbox)).find(({ path }) => path === 'd/b')!;
      expect(change).toMatchObject({ kind: 'CHANGE_ADDED', renamed_from: 'a.txt', came_along: false });
      expect(change.diff).toMatchObject({ base_sha256: sha256(TEXT), sha256: sha256(EDITED), base_mode: 0o644 });
      expect(change.diff!.hunks.map(({ removed, added }) => [removed, added])).toEqual([
        ['line 5\n', 'five\n'],
        ['', 'last'],
      ]);
      const answer = await commit(scene, sandbox, { hunks: [chosen(change, [0])] });
      expect(answer.changes.map(({ path }) => path)).toEqual(['a.txt', 'd/b']);
      expect(await scene.content(codebase, 'd/b')).toBe(TEXT.replace('line 5\n', 'five\n'));
      expect(await names(scene, codebase)).toEqual(['c', 'd', 'd/b']);
      expect(await scene.output(sandbox, 'cat d/b; stat -c %a d/b')).toBe(`${EDITED}755\n`);
      const rest = await listed(scene, sandbox);
      expect(rest.map(({ path, kind, conflict }) => [path, kind, conflict])).toEqual([
        ['c', 'CHANGE_MODIFIED', false],
        ['d/b', 'CHANGE_MODIFIED', false],
      ]);
      expect(rest[1]!.diff!.hunks.map(({ added }) => added)).toEqual(['last']);
      expect(rest[1]).toMatchObject({ mode: 0o755, base_mode: 0o644 });
      await commit(scene, sandbox);
      expect(await scene.content(codebase, 'd/b')).toBe(EDITED);
      expect(await listed(scene, sandbox)).toEqual([]);
    },
  },
  {
    name: 'hunks of a renamed file take nothing of another file that is at its old name by now',
    async run(scene) {
      const codebase = await scene.codebase({ 'a.txt': TEXT });
      const sandbox = await scene.sandbox(codebase);
      await scene.output(sandbox, `${renamed('b')} && echo other > a.txt`);
      const change = (await listed(scene, sandbox)).find(({ path }) => path === 'b')!;
      expect(await commit(scene, sandbox, { hunks: [chosen(change, [1])] })).toMatchObject({ count: 1 });
      expect(await scene.content(codebase, 'b')).toBe(`${TEXT}last`);
      expect(await scene.content(codebase, 'a.txt')).toBe(TEXT);
      expect((await listed(scene, sandbox)).map(({ path }) => path)).toEqual(['a.txt', 'b']);
    },
  },
  {
    name: 'of a renamed directory the files that were edited have hunks, also those of the same size, and the others came along',
    async run(scene) {
      const files = { 'd/x': 'one\ntwo\n', 'd/y': 'y\n', 'd/z': 'z\n' };
      const codebase = await scene.codebase(files);
      const sandbox = await scene.sandbox(codebase);
      await scene.output(
        sandbox,
        "mv d e && sed -i 's/z/Z/' e/z && printf '\\bne\\nTWO\\n' > /tmp/x && cat /tmp/x > e/x",
      );
      const changes = await listed(scene, sandbox);
      const at = (wanted: string) => changes.find(({ path }) => path === wanted)!;
      expect([at('e/x').came_along, at('e/y').came_along, at('e').came_along]).toEqual([false, true, false]);
      expect(at('e/y').diff ?? undefined).toBeUndefined();
      expect(at('e/x')).toMatchObject({ size: at('d/x').base_size, renamed_from: 'd/x' });
      expect(at('e/x').diff!.hunks).toMatchObject([{ removed: 'one\ntwo\n', added: '\bne\nTWO\n' }]);
      const half = commit(scene, sandbox, { hunks: [chosen(at('e/x'), [0])] });
      await expectRefusal(half, 'FAILED_PRECONDITION', /^paths: the sandbox renamed .*; choose all of it/);
      await commit(scene, sandbox, { paths: ['d', 'e'], hunks: [chosen(at('e/x'), [0])] });
      expect(await names(scene, codebase)).toEqual(['e', 'e/x', 'e/y', 'e/z']);
      expect(await scene.content(codebase, 'e/z')).toBe('Z\n');
      expect(await listed(scene, sandbox)).toEqual([]);
    },
  },
  {
    name: 'a renamed file shows the agent no lines that it may not read at the old name, and a hidden old name not at all',
    async run(scene) {
      const paths = ['listed', 'hidden', '.env'];
      const codebase = await scene.codebase(Object.fromEntries(paths.map((path) => [path, 'KEY=value\n'])));
      const sandbox = await scene.sandbox(codebase, EVERYTHING);
      await scene.output(
        sandbox,
        `for each in ${paths.join(' ')}; do mv $each new-$each; echo KEY=other > new-$each; done`,
      );
      const rules = [...EVERYTHING, view('listed', 1), hide('hidden', 1), { ...read('.env', 1), view: 'redacted' }];
      await scene.client.call('UpdatePermissions', { sandbox_id: sandbox.id, permissions: rules });
      const shown = async (as: string) => {
        const added = (await listed(scene, sandbox, { as })).filter(({ kind }) => kind === 'CHANGE_ADDED');
        return Object.fromEntries(added.map(({ path, renamed_from, diff }) => [path, [renamed_from, diff?.no_hunks]]));
      };
      expect(await shown('agent')).toEqual({
        'new-.env': ['.env', 'placeholders'],
        'new-hidden': ['', undefined],
        'new-listed': ['listed', 'unreadable'],
      });
      expect(await shown('owner')).toMatchObject({
        'new-hidden': ['hidden', ''],
        'new-.env': ['.env', 'placeholders'],
      });
    },
  },
  {
    name: 'hunks of a renamed file whose old version was changed by others are a conflict, and taken with ours',
    async run(scene) {
      const codebase = await scene.codebase({ 'a.txt': TEXT });
      const sandbox = await scene.sandbox(codebase);
      await scene.output(sandbox, renamed('b'));
      await scene.client.upload(codebase.id, 'a.txt', `${TEXT}theirs\n`);
      const change = (await listed(scene, sandbox)).find(({ path }) => path === 'b')!;
      const hunks = [chosen(change, [0])];
      await expectRefusal(commit(scene, sandbox, { hunks }), 'ABORTED', /a\.txt/);
      const theirs = commit(scene, sandbox, { hunks, on_conflict: 'theirs' });
      await expectRefusal(theirs, 'FAILED_PRECONDITION', /^hunks\[0\]\.path: "b" is in conflict/);
      await commit(scene, sandbox, { hunks, on_conflict: 'ours' });
      expect(await scene.content(codebase, 'b')).toBe(`${TEXT.replace('line 5\n', 'five\n')}theirs\n`);
      expect(await names(scene, codebase)).toEqual(['b']);
    },
  },
  {
    name: 'hunks of a file that a renamed directory shows are refused, since the sandbox has nothing that keeps the others',
    async run(scene) {
      const codebase = await scene.codebase({ 'a/x': TEXT, 'b/x': TEXT.replace('line 2\n', 'two\n') });
      const sandbox = await scene.sandbox(codebase);
      await scene.output(sandbox, 'rm -r b; mv a b');
      const change = (await listed(scene, sandbox)).find(({ path }) => path === 'b/x')!;
      const request = { paths: ['a', 'b'], hunks: [chosen(change, [0])] };
      await expectRefusal(commit(scene, sandbox, request), 'FAILED_PRECONDITION', /^hunks\[0\]\.path: .* renamed/);
      expect(await scene.output(sandbox, 'cat b/x')).toBe(TEXT);
    },
  },
  {
    name: 'hunks that a file does not have, of files without hunks, and malformed ones are refused by their field',
    async run(scene) {
      const { sandbox, change } = await edited(scene, { gone: 'x\n' });
      await scene.output(sandbox, 'rm gone; echo new > new');
      const ask = (more: object) => commit(scene, sandbox, { hunks: [{ ...chosen(change, [0]), ...more }] });
      await expectRefusal(ask({ indexes: [2] }), 'INVALID_ARGUMENT', /^hunks\[0\]\.indexes must/);
      await expectRefusal(ask({ indexes: [1, 0] }), 'INVALID_ARGUMENT', /^hunks\[0\]\.indexes must/);
      await expectRefusal(ask({ indexes: [1, 1] }), 'INVALID_ARGUMENT', /^hunks\[0\]\.indexes must/);
      await expectRefusal(ask({ indexes: [] }), 'INVALID_ARGUMENT', /^hunks\[0\]\.indexes must/);
      await expectRefusal(
        ask({ path: 'new' }),
        'FAILED_PRECONDITION',
        /^hunks\[0\]\.path: "new" is no modified or renamed file/,
      );
      await expectRefusal(ask({ path: 'gone' }), 'FAILED_PRECONDITION', /^hunks\[0\]\.path: /);
      await expectRefusal(ask({ path: 'other' }), 'FAILED_PRECONDITION', /^hunks\[0\]\.path: "other" is no change/);
      await expectRefusal(ask({ path: '../a.txt' }), 'INVALID_ARGUMENT', /^hunks\[0\]\.path must/);
      await expectRefusal(ask({ sha256: 'abc' }), 'INVALID_ARGUMENT', /^hunks\[0\]\.sha256 must/);
      await expectRefusal(ask({ sha256: '' }), 'INVALID_ARGUMENT', /^hunks\[0\]\.sha256 must/);
      const twice = commit(scene, sandbox, { hunks: [chosen(change, [0]), chosen(change, [1])] });
      await expectRefusal(twice, 'INVALID_ARGUMENT', /^hunks\[1\]\.path must/);
    },
  },
];

contract('choosing hunks of changes', cases);
