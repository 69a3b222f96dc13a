import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { FileStat, Sandbox } from '../../lib/contract/messages.ts';
import type { Code } from '../../lib/errors.ts';
import { CallError, type Content, collect } from './client.ts';
import { ABSENT, DENIED, outcome } from './outcome.ts';
import { hide, read, view, write } from './rules.ts';
import { eventually, expectRefusal, type Scene } from './scene.ts';
import { type Case, contract, EVERY } from './suite.ts';

const TREE = {
  'README.md': 'readme\n',
  'src/main.js': 'main\n',
  'src/lib/util.js': 'util\n',
  'secret/key': 'key\n',
  'seen.csv': 'a,b\n',
  'fixed/one': 'one\n',
};
const RULES = [write('**'), hide('secret/', 1), view('seen.csv', 1), read('fixed/', 1)];

const at = (sandbox: Sandbox, path: string, as = 'agent') => ({ sandbox_id: sandbox.id, as, path });

const text = async (scene: Scene, sandbox: Sandbox, path: string, as?: string) =>
  (await collect(scene.client.read('ReadFile', at(sandbox, path, as)))).toString();

/** Whether the server holds contents of any sandbox. */
function hasContents({ state }: Scene): boolean {
  const layers = join(state.directory, 'mounts/layers');
  const files = readdirSync(layers, { recursive: true, encoding: 'utf8' });
  return files.some((file) => (statSync(join(layers, file), { throwIfNoEntry: false })?.size ?? 0) > 1 << 20);
}

const put = (scene: Scene, sandbox: Sandbox, path: string, content: Content, as?: string) =>
  scene.client.write('WriteFile', at(sandbox, path, as), content);

async function listed(scene: Scene, sandbox: Sandbox, path = '', as = 'agent', page_size = 0): Promise<FileStat[]> {
  const all: FileStat[] = [];
  for (let page_token = ''; ; ) {
    const request = { ...at(sandbox, path, as), recursive: true, page_size, page_token };
    const page = await scene.client.call('ListDirectory', request);
    all.push(...page.files);
    page_token = page.next_page_token;
    if (page_token === '') return all;
  }
}

const paths = (files: readonly FileStat[]) => files.map(({ path }) => path);

/** What came of a call: its value, or its code as the command's words for it. */
async function came(call: Promise<unknown>): Promise<unknown> {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    const words: Partial<Record<Code, string>> = {
      NOT_FOUND: ABSENT,
      PERMISSION_DENIED: DENIED,
      ALREADY_EXISTS: 'File exists',
    };
    return words[error.code] ?? error.code;
  }
}

/** A directory of each level: its `f`, `l` and `d` have the level. */
const LEVELS = { hidden: hide, viewed: view, readable: read, writable: write };

type Row = readonly [command: string, call: (scene: Scene, sandbox: Sandbox, directory: string) => Promise<unknown>];

const done = (call: Promise<unknown>) => call.then(() => '');
const stat = (scene: Scene, sandbox: Sandbox, path: string) => scene.client.call('StatFile', at(sandbox, path));
const move = (scene: Scene, { id }: Sandbox, from: string, to: string, more = {}) =>
  scene.client.call('MoveFile', { sandbox_id: id, from, to, ...more });
const make = (scene: Scene, sandbox: Sandbox, path: string) => scene.client.call('MakeDirectory', at(sandbox, path));
const remove = (scene: Scene, sandbox: Sandbox, path: string, more = {}) =>
  scene.client.call('DeleteFile', { ...at(sandbox, path), ...more });
const listedIn = async (scene: Scene, sandbox: Sandbox, directory: string) =>
  paths(await listed(scene, sandbox, directory)).map((path) => `${path.replace(`${directory}/`, '')}\n`);
const octal = (mode: number) => mode.toString(8);

/** A command, and what of the file operations comes to the same, on `f`, the directory `d` and the symlink `l`. */
const LEVEL_ROWS: readonly Row[] = [
  ['cat f', (scene, sandbox, where) => text(scene, sandbox, `${where}/f`)],
  ['cat d/x', (scene, sandbox, where) => text(scene, sandbox, `${where}/d/x`)],
  ['cat l', (scene, sandbox, where) => text(scene, sandbox, `${where}/l`)],
  ['stat -c %s f', async (scene, sandbox, where) => `${(await stat(scene, sandbox, `${where}/f`)).size}\n`],
  ['stat -c %a f', async (scene, sandbox, where) => `${octal((await stat(scene, sandbox, `${where}/f`)).mode)}\n`],
  [
    'readlink -v l',
    async (scene, sandbox, where) => (await stat(scene, sandbox, `${where}/l`)).target.replace(/.$/, '$&\n') || DENIED,
  ],
  ['find * | LC_ALL=C sort', async (scene, sandbox, where) => (await listedIn(scene, sandbox, where)).join('')],
  ['echo mine > f', (scene, sandbox, where) => done(put(scene, sandbox, `${where}/f`, 'mine\n'))],
  ['echo mine > l', (scene, sandbox, where) => done(put(scene, sandbox, `${where}/l`, 'mine\n'))],
  ['mkdir d/new', (scene, sandbox, where) => done(make(scene, sandbox, `${where}/d/new`))],
  ['mkdir f', (scene, sandbox, where) => done(make(scene, sandbox, `${where}/f`))],
  ['mv f free/f', (scene, sandbox, where) => done(move(scene, sandbox, `${where}/f`, `${where}/free/f`))],
  ['mv -T d free/d', (scene, sandbox, where) => done(move(scene, sandbox, `${where}/d`, `${where}/free/d`))],
  [
    'mv -T free/kept f',
    (scene, sandbox, where) => done(move(scene, sandbox, `${where}/free/kept`, `${where}/f`, { replace: true })),
  ],
  ['unlink f', (scene, sandbox, where) => done(remove(scene, sandbox, `${where}/f`))],
  ['rm -r d', (scene, sandbox, where) => done(remove(scene, sandbox, `${where}/d`, { recursive: true }))],
];

/** Prints every file with its contents; compared after the command and after the operation. */
const LEFT = 'find * -type f -exec sh -c \'echo "$1: $(cat "$1" 2>&1)"\' - {} \\; | LC_ALL=C sort';

const onEachLevel = ([command, call]: Row): Case => ({
  name: `as the agent, an operation has the result of the command on every level: ${command}`,
  // Independent of the runtime.
  runtimes: ['bwrap'],
  async run(scene) {
    const directories = Object.keys(LEVELS);
    const files = directories.flatMap((name) => [
      [`${name}/f`, 'text\n'],
      [`${name}/d/x`, 'x\n'],
      [`${name}/free/kept`, 'kept\n'],
    ]);
    const rules = Object.entries(LEVELS).flatMap(([name, level]) => [
      ...['f', 'l', 'd/'].map((own) => level(`${name}/${own}`)),
      write(`${name}/free/`),
    ]);
    const codebase = await scene.codebase(Object.fromEntries(files));
    const [one, other] = [await scene.sandbox(codebase), await scene.sandbox(codebase)];
    for (const sandbox of [one, other]) {
      await scene.output(sandbox, `for level in ${directories.join(' ')}; do ln -s f $level/l; done`);
      await scene.client.call('UpdatePermissions', { sandbox_id: sandbox.id, permissions: rules });
    }
    for (const workdir of directories) {
      const of = await outcome(scene, other, command, { workdir });
      expect({ workdir, of: await came(call(scene, one, workdir)) }).toEqual({ workdir, of });
    }
    expect(await scene.output(one, LEFT)).toBe(await scene.output(other, LEFT));
  },
});

/** A program that has `path` open says what it reads of it, before and after the file `/tmp/go` comes to be. */
const READER = (path: string) => `
import os, time
fd = os.open('${path}', os.O_RDONLY)
print(os.pread(fd, 100, 0).decode())
open('/tmp/ready', 'w').close()
while not os.path.exists('/tmp/go'): time.sleep(0.01)
print(os.pread(fd, 100, 0).decode())
print(open('${path}').read())
`;

const cases: Case[] = [
  ...LEVEL_ROWS.map(onEachLevel),
  {
    name: 'the owner reads and changes files hidden from the sandbox',
    async run(scene) {
      const sandbox = await scene.sandboxOn(TREE, RULES);
      expect(await scene.output(sandbox, 'find . -type f | LC_ALL=C sort')).toBe(
        './README.md\n./fixed/one\n./seen.csv\n./src/lib/util.js\n./src/main.js\n',
      );
      expect(paths(await listed(scene, sandbox, '', 'owner'))).toContain('secret/key');
      expect(await text(scene, sandbox, 'secret/key', 'owner')).toBe('key\n');
      const secret = await scene.client.call('StatFile', at(sandbox, 'secret/key', 'owner'));
      expect(secret).toMatchObject({ type: 'TYPE_FILE', size: 4, mode: 0o644, permission: 'PERMISSION_NONE' });
      await put(scene, sandbox, 'secret/key', 'other\n', 'owner');
      await put(scene, sandbox, 'fixed/one', 'two\n', 'owner');
      await put(scene, sandbox, 'secret/new/deep', 'deep\n', 'owner');
      expect(await scene.output(sandbox, 'cat fixed/one')).toBe('two\n');
      expect(await outcome(scene, sandbox, 'cat secret/key')).toBe(ABSENT);
      expect(await outcome(scene, sandbox, 'ls secret')).toBe(ABSENT);
      expect(await outcome(scene, sandbox, 'echo x > fixed/one')).toBe(DENIED);
      expect(await text(scene, sandbox, 'secret/new/deep', 'owner')).toBe('deep\n');
      await expectRefusal(
        put(scene, sandbox, 'secret/key', 'agent'),
        'PERMISSION_DENIED',
        /"secret\/key" is hidden by a rule/,
      );
    },
  },
  {
    name: 'the codebase files in a directory that the owner moves have the stricter rule of both places',
    async run(scene) {
      const sandbox = await scene.sandboxOn({ 'a/open': 'open\n', 'a/hidden/x': 'x\n', 'a/fixed': 'fixed\n' }, [
        write('**'),
        hide('a/hidden/', 1),
        read('a/fixed', 1),
        hide('c/open', 1),
      ]);
      await scene.output(sandbox, 'ls -R . ; cat a/*; true');
      const move = (from: string, to: string, as: string) =>
        scene.client.call('MoveFile', { sandbox_id: sandbox.id, as, from, to });
      await expectRefusal(move('a', 'b', 'agent'), 'PERMISSION_DENIED');
      await move('a', 'b', 'owner');
      expect(await scene.output(sandbox, 'ls . b; cat b/open b/fixed')).toBe('.:\nb\n\nb:\nfixed\nopen\nopen\nfixed\n');
      expect(await outcome(scene, sandbox, 'cat b/hidden/x')).toBe(ABSENT);
      expect(await outcome(scene, sandbox, 'echo x >> b/fixed')).toBe(DENIED);
      await scene.output(sandbox, 'echo more >> b/open');
      await move('b', 'c', 'owner');
      expect(await scene.output(sandbox, 'ls c; cat c/fixed')).toBe('fixed\nfixed\n');
      expect(await outcome(scene, sandbox, 'cat c/open')).toBe(ABSENT);
      await move('c', 'a', 'owner');
      expect(await outcome(scene, sandbox, 'cat a/hidden/x')).toBe(ABSENT);
      expect(await scene.output(sandbox, 'ls a; cat a/open a/fixed')).toBe('fixed\nopen\nopen\nmore\nfixed\n');
    },
  },
  {
    name: 'a program that reads a file that is replaced keeps reading the old version',
    async run(scene) {
      const sandbox = await scene.sandboxOn(TREE);
      const came = await scene.whileRunning(sandbox, READER('src/main.js'), async () => {
        const stat = await put(scene, sandbox, 'src/main.js', 'a much longer one\n');
        expect(stat).toMatchObject({ path: 'src/main.js', size: 18, mode: 0o644, type: 'TYPE_FILE' });
      });
      expect(came).toBe('main\n\nmain\n\na much longer one\n\n');
      expect(await scene.output(sandbox, 'stat -c "%s %a %U" src/main.js; id -un')).toMatch(/^18 644 (\S+)\n\1\n$/);
    },
  },
  {
    name: 'a written file is a change of this sandbox only',
    async run(scene) {
      const codebase = await scene.codebase(TREE);
      const sandbox = await scene.sandbox(codebase);
      await put(scene, sandbox, 'src/main.js', 'new\n');
      await scene.client.call('DeleteFile', at(sandbox, 'README.md'));
      expect(await scene.content(codebase, 'src/main.js')).toBe('main\n');
      const { changes } = await scene.client.call('ListChanges', { sandbox_id: sandbox.id });
      expect(changes.map(({ path, kind, conflict }) => `${kind} ${path} ${conflict}`)).toEqual([
        'CHANGE_DELETED README.md false',
        'CHANGE_MODIFIED src/main.js false',
      ]);
    },
  },
  {
    name: 'commands see created and removed files at once, also names that they looked up before',
    async run(scene) {
      const sandbox = await scene.sandboxOn(TREE);
      await scene.run(sandbox, 'cat new/file other; ls src src/lib; cat src/main.js');
      await put(scene, sandbox, 'new/file', 'new\n');
      await scene.client.call('MakeDirectory', at(sandbox, 'other'));
      expect(await scene.output(sandbox, 'cat new/file; ls -d other; ls')).toBe(
        'new\nother\nREADME.md\nfixed\nnew\nother\nsecret\nseen.csv\nsrc\n',
      );
      await scene.client.call('MoveFile', { sandbox_id: sandbox.id, from: 'src/lib', to: 'other/lib' });
      await scene.client.call('DeleteFile', at(sandbox, 'src/main.js'));
      expect(await scene.output(sandbox, 'ls src; cat other/lib/util.js')).toBe('util\n');
      expect(await outcome(scene, sandbox, 'cat src/lib/util.js')).toBe(ABSENT);
      const { removed } = await scene.client.call('DeleteFile', { ...at(sandbox, 'other'), recursive: true });
      expect([removed, await scene.output(sandbox, 'ls')]).toEqual([
        3,
        'README.md\nfixed\nnew\nsecret\nseen.csv\nsrc\n',
      ]);
    },
  },
  {
    name: 'a program keeps its working directory while the directory is moved',
    async run(scene) {
      const sandbox = await scene.sandboxOn(TREE);
      const program = `import os, time
os.chdir('src/lib')
open('/tmp/ready', 'w').close()
while not os.path.exists('/tmp/go'): time.sleep(0.01)
os.listdir('/workspace')
print(os.path.exists('/workspace/src'), os.path.exists('/workspace/moved/lib'), os.getcwd(), os.listdir('.'))`;
      const said = await scene.whileRunning(sandbox, program, async () => {
        await scene.client.call('MoveFile', { sandbox_id: sandbox.id, from: 'src', to: 'moved' });
      });
      expect(said).toBe("False True /workspace/moved/lib ['util.js']\n");
    },
  },
  {
    name: 'symlinks are followed as in the sandbox, and never to files of the host',
    async run(scene) {
      const sandbox = await scene.sandboxOn({ 'd/f': 'f\n' });
      const links: Record<string, string> = {
        inside: 'd/f',
        absolute: '/workspace/d/f',
        around: '../workspace/d/../d/f',
        passwd: '/etc/passwd',
        up: '../../../../../../etc/passwd',
        loop: 'loop',
        nowhere: 'd/made',
        dir: 'd',
        proc: '/proc/self/root/etc/passwd',
      };
      for (const [name, target] of Object.entries(links)) await scene.output(sandbox, `ln -s ${target} ${name}`);
      for (const as of ['agent', 'owner']) {
        for (const path of ['inside', 'absolute', 'around', 'dir/f']) {
          expect(await text(scene, sandbox, path, as)).toBe('f\n');
        }
        for (const path of ['passwd', 'up', 'proc', 'loop']) {
          await expectRefusal(scene.client.read('ReadFile', at(sandbox, path, as)), 'FAILED_PRECONDITION', path);
          await expectRefusal(put(scene, sandbox, path, 'x', as), 'FAILED_PRECONDITION', path);
          await expectRefusal(put(scene, sandbox, `${path}/x`, 'x', as), 'FAILED_PRECONDITION', path);
        }
        expect(await scene.client.call('StatFile', at(sandbox, 'passwd', as))).toMatchObject({
          type: 'TYPE_SYMLINK',
          target: '/etc/passwd',
        });
      }
      await put(scene, sandbox, 'nowhere', 'made\n');
      await put(scene, sandbox, 'inside', 'changed\n');
      await scene.client.call('MoveFile', { sandbox_id: sandbox.id, from: 'absolute', to: 'renamed' });
      await scene.client.call('DeleteFile', { ...at(sandbox, 'dir'), recursive: true });
      expect(await scene.output(sandbox, 'cat d/made d/f; readlink inside renamed; ls -d dir 2>&1 || true')).toBe(
        "made\nchanged\nd/f\n/workspace/d/f\nls: cannot access 'dir': No such file or directory\n",
      );
    },
  },
  {
    name: 'a symlink of the sandbox does not lead the owner to files that are hidden from the sandbox',
    async run(scene) {
      const sandbox = await scene.sandboxOn(TREE, RULES);
      await scene.output(sandbox, 'ln -s secret/key out; ln -s secret dir; ln -s fixed/one one; ln -s README.md me');
      for (const path of ['out', 'dir/key']) {
        await expectRefusal(text(scene, sandbox, path, 'owner'), 'NOT_FOUND');
        await expectRefusal(put(scene, sandbox, path, 'x', 'owner'), 'NOT_FOUND');
      }
      await expectRefusal(put(scene, sandbox, 'dir/new', 'x', 'owner'), 'NOT_FOUND');
      await expectRefusal(put(scene, sandbox, 'one', 'x', 'owner'), 'PERMISSION_DENIED');
      await expectRefusal(move(scene, sandbox, 'dir/key', 'got', { as: 'owner' }), 'NOT_FOUND');
      await expectRefusal(scene.client.read('ExportFiles', at(sandbox, 'dir', 'owner')), 'NOT_FOUND');
      expect(await text(scene, sandbox, 'one', 'owner')).toBe('one\n');
      await put(scene, sandbox, 'me', 'mine\n', 'owner');
      expect(await text(scene, sandbox, 'README.md')).toBe('mine\n');
      expect(await text(scene, sandbox, 'secret/key', 'owner')).toBe('key\n');
    },
  },
  {
    name: '`view` and `source` are other names of `as` and `from`, in bodies, queries and streams',
    async run(scene) {
      const sandbox = await scene.sandboxOn(TREE, RULES);
      const { sandbox_id, path } = at(sandbox, 'secret/key');
      const view = 'owner';
      expect(await scene.client.call('StatFile', { sandbox_id, path, view })).toMatchObject({ type: 'TYPE_FILE' });
      await expectRefusal(scene.client.call('StatFile', { sandbox_id, path, view: 'agent' }), 'NOT_FOUND');
      await expectRefusal(
        scene.client.call('StatFile', { sandbox_id, path, view, as: 'agent' }),
        'INVALID_ARGUMENT',
        /^view must be absent, or the same as as$/,
      );
      await scene.client.call('MoveFile', { sandbox_id, view, source: path, to: 'secret/moved' });
      const content = Buffer.from('new\n');
      await scene.client.write('WriteFile', { sandbox_id, path, view } as never, content);
      expect(await text(scene, sandbox, path, 'owner')).toBe('new\n');
    },
  },
  {
    name: 'an error for an invalid path names the field',
    async run(scene) {
      const sandbox = await scene.sandboxOn(TREE);
      const long = 'n'.repeat(256);
      for (const path of ['../x', 'src/../../x', 'a/./b', `${long}/x`, long, 'a\0b', `${'d/'.repeat(2100)}f`]) {
        for (const as of ['agent', 'owner']) {
          await expectRefusal(scene.client.call('StatFile', at(sandbox, path, as)), 'INVALID_ARGUMENT', /^path/);
          await expectRefusal(put(scene, sandbox, path, 'x', as), 'INVALID_ARGUMENT', /^path/);
        }
      }
      const move = (from: string, to: string) =>
        scene.client.call('MoveFile', { sandbox_id: sandbox.id, as: 'owner', from, to });
      await expectRefusal(move('src', 'src/lib/src'), 'FAILED_PRECONDITION');
      await expectRefusal(move('src', '../src'), 'INVALID_ARGUMENT', /^to/);
      await expectRefusal(move('', 'x'), 'INVALID_ARGUMENT', /^from/);
      await expectRefusal(move('README.md', 'seen.csv'), 'ALREADY_EXISTS', /"seen.csv"/);
      await expectRefusal(move('none', 'x'), 'NOT_FOUND', /"none"/);
      const remove = (path: string) => scene.client.call('DeleteFile', at(sandbox, path, 'owner'));
      await expectRefusal(remove('src'), 'FAILED_PRECONDITION', /not empty/);
      await expectRefusal(remove('none'), 'NOT_FOUND');
      await expectRefusal(put(scene, sandbox, 'src', 'x'), 'FAILED_PRECONDITION', /is a directory/);
      await expectRefusal(put(scene, sandbox, 'README.md/x', 'x'), 'FAILED_PRECONDITION', /not a directory/);
      await expectRefusal(scene.client.read('ReadFile', at(sandbox, 'src')), 'FAILED_PRECONDITION', /is a directory/);
      await expectRefusal(scene.client.call('ListDirectory', at(sandbox, 'README.md')), 'FAILED_PRECONDITION');
      await expectRefusal(scene.client.call('MakeDirectory', at(sandbox, 'src')), 'ALREADY_EXISTS');
      await expectRefusal(scene.client.call('MakeDirectory', at(sandbox, 'no/dir')), 'NOT_FOUND');
      await expectRefusal(scene.client.call('StatFile', at(sandbox, 'src', 'root')), 'INVALID_ARGUMENT', /^as must be/);
      await scene.output(sandbox, 'mkfifo fifo');
      await expectRefusal(scene.client.read('ReadFile', at(sandbox, 'fifo', 'owner')), 'FAILED_PRECONDITION', /"fifo"/);
      await expectRefusal(put(scene, sandbox, 'fifo', 'x', 'owner'), 'FAILED_PRECONDITION', /"fifo"/);
    },
  },
  {
    name: 'mode bits apply to the agent as to a command, and not to the owner',
    async run(scene) {
      const sandbox = await scene.sandboxOn({ f: 'f\n', 'd/x': 'x\n', 'e/x': 'x\n' });
      await scene.output(sandbox, 'chmod 0 f; chmod 600 d; chmod 500 e');
      await expectRefusal(scene.client.read('ReadFile', at(sandbox, 'f')), 'PERMISSION_DENIED');
      await expectRefusal(put(scene, sandbox, 'f', 'x'), 'PERMISSION_DENIED');
      await expectRefusal(scene.client.call('StatFile', at(sandbox, 'd/x')), 'PERMISSION_DENIED');
      await expectRefusal(put(scene, sandbox, 'e/new', 'x'), 'PERMISSION_DENIED');
      await expectRefusal(scene.client.call('DeleteFile', at(sandbox, 'e/x')), 'PERMISSION_DENIED');
      expect(await text(scene, sandbox, 'f', 'owner')).toBe('f\n');
      expect(await text(scene, sandbox, 'd/x', 'owner')).toBe('x\n');
      expect(await put(scene, sandbox, 'f', 'y\n', 'owner')).toMatchObject({ mode: 0 });
    },
  },
  {
    name: 'large files are written and read completely, with the requested mode',
    async run(scene) {
      const sandbox = await scene.sandboxOn({});
      const large = Buffer.alloc(5_000_001, 'paddock ');
      await scene.client.write('WriteFile', { ...at(sandbox, 'bin/large'), mode: 0o755 }, large);
      expect((await collect(scene.client.read('ReadFile', at(sandbox, 'bin/large')))).equals(large)).toBe(true);
      expect(await scene.output(sandbox, 'stat -c "%s %a" bin/large; tail -c 9 bin/large')).toBe(
        `5000001 755\n${large.subarray(-9)}`,
      );
      await put(scene, sandbox, 'bin/large', '');
      expect(await scene.output(sandbox, 'stat -c "%s %a" bin/large')).toBe('0 755\n');
      expect(await text(scene, sandbox, 'bin/large')).toBe('');
    },
  },
  {
    name: 'a download of a file that is replaced has the old version, and of a file that is written to is aborted',
    async run(scene) {
      const sandbox = await scene.sandboxOn({});
      const old = Buffer.alloc(32 << 20, 'o');
      await put(scene, sandbox, 'f', old);
      const begin = async () => {
        const chunks = scene.client.read('ReadFile', at(sandbox, 'f'))[Symbol.asyncIterator]();
        const first = await chunks.next();
        return async () => {
          let size = (first.value as Uint8Array).length;
          for (let next = await chunks.next(); !next.done; next = await chunks.next()) {
            if (!Buffer.from(next.value).every((byte) => byte === 0x6f)) throw new Error('a mixture');
            size += next.value.length;
          }
          return size;
        };
      };
      const replaced = await begin();
      await scene.client.call('CreateCheckpoint', { sandbox_id: sandbox.id, name: 'amid' });
      await put(scene, sandbox, 'f', Buffer.alloc(32 << 20, 'n'));
      expect(await replaced()).toBe(old.length);
      await put(scene, sandbox, 'f', old);
      const written = await begin();
      await scene.output(sandbox, 'printf x | dd of=f bs=1 seek=33000000 conv=notrunc 2>/dev/null');
      await expect(written()).rejects.toThrow();
    },
  },
  {
    name: 'a rollback, a discard and a commit during transfers leave complete files or none',
    async run(scene) {
      const codebase = await scene.codebase({ f: 'old\n' });
      const sandbox = await scene.sandbox(codebase);
      const checkpoint = { sandbox_id: sandbox.id, name: 'before' };
      await scene.client.call('CreateCheckpoint', checkpoint);
      const large = Buffer.alloc(16 << 20, 'l');
      const begin = (between: () => Promise<unknown>) =>
        put(
          scene,
          sandbox,
          'f',
          (async function* () {
            yield large.subarray(0, 8 << 20);
            await between();
            yield large.subarray(8 << 20);
          })(),
        );
      const rollback = () =>
        scene.client.call('Rollback', { sandbox_id: sandbox.id, checkpoint: 'before' }).then(() => undefined);
      // What the server has not begun to take would come after the rollback.
      const afterSome = async () => {
        await eventually('some of it is in the delta', async () => hasContents(scene));
        await rollback();
      };
      await expectRefusal(begin(afterSome), 'ABORTED', /rolled back/);
      expect(await text(scene, sandbox, 'f')).toBe('old\n');
      await begin(() => scene.client.call('CreateCheckpoint', { ...checkpoint, name: 'amid' }));
      expect(await text(scene, sandbox, 'f')).toBe(large.toString());
      await begin(() => scene.client.call('Discard', { sandbox_id: sandbox.id, paths: [] }));
      expect(await text(scene, sandbox, 'f')).toBe(large.toString());
      await begin(() => scene.client.call('Commit', { sandbox_id: sandbox.id }));
      expect((await scene.output(sandbox, 'ls; wc -c < f')).trim()).toBe(`f\n${large.length}`);
      expect((await scene.content(codebase, 'f')).length).toBe(large.length);
      const reading = scene.client.read('ReadFile', at(sandbox, 'f'))[Symbol.asyncIterator]();
      const parts = [(await reading.next()).value as Uint8Array];
      await rollback();
      // All of it may have been on its way already.
      const rest = (async () => {
        for (let next = await reading.next(); !next.done; next = await reading.next()) parts.push(next.value);
        return Buffer.concat(parts).equals(large) ? 'complete' : 'torn';
      })();
      expect(await rest.catch(() => 'refused')).toMatch(/^(complete|refused)$/);
      await scene.client.call('StopSandbox', { sandbox_id: sandbox.id });
      await scene.client.call('StartSandbox', { sandbox_id: sandbox.id });
      expect(await scene.output(sandbox, 'ls')).toBe('f\n');
    },
  },
  {
    name: 'a client that disconnects during an upload leaves nothing',
    async run(scene) {
      const sandbox = await scene.sandboxOn({ f: 'old\n' });
      const cut = async function* () {
        for (let i = 0; i < 40; i++) yield Buffer.alloc(100_000, 'x');
        throw new Error('the client goes');
      };
      await put(scene, sandbox, 'f', cut()).then(
        () => expect.unreachable(),
        () => undefined,
      );
      await scene.client.write('ImportFiles', at(sandbox, ''), cut()).then(
        () => expect.unreachable(),
        () => undefined,
      );
      expect(await scene.output(sandbox, 'cat f; ls')).toBe('old\nf\n');
      await eventually('nothing is left of it', async () => {
        const free = await scene.output(sandbox, 'df --output=used . | tail -n 1');
        return Number(free) === 0;
      });
      expect((await scene.client.call('ListChanges', { sandbox_id: sandbox.id })).changes).toEqual([]);
    },
  },
  {
    name: 'the owner has access to the files of a stopped sandbox, and the agent does not',
    async run(scene) {
      const sandbox = await scene.sandboxOn(TREE, RULES);
      await scene.output(sandbox, 'echo more >> README.md');
      await scene.client.call('StopSandbox', { sandbox_id: sandbox.id });
      expect(await text(scene, sandbox, 'README.md', 'owner')).toBe('readme\nmore\n');
      await put(scene, sandbox, 'secret/key', 'changed\n', 'owner');
      await expectRefusal(
        scene.client.read('ReadFile', at(sandbox, 'README.md')),
        'FAILED_PRECONDITION',
        /is stopped$/,
      );
      const large = Buffer.alloc(16 << 20, 'l');
      await put(scene, sandbox, 'large', large, 'owner');
      // Brought up in the middle of it, and looked at in other ways.
      const chunks = scene.client.read('ReadFile', at(sandbox, 'large', 'owner'))[Symbol.asyncIterator]();
      let size = ((await chunks.next()).value as Uint8Array).length;
      await scene.client.call('ListChanges', { sandbox_id: sandbox.id });
      await scene.client.call('StartSandbox', { sandbox_id: sandbox.id });
      for (let next = await chunks.next(); !next.done; next = await chunks.next()) size += next.value.length;
      expect(size).toBe(large.length);
      expect(await scene.output(sandbox, 'cat README.md; ls secret 2>&1 || true; stat -c %s large')).toBe(
        "readme\nmore\nls: cannot access 'secret': No such file or directory\n16777216\n",
      );
      expect(await text(scene, sandbox, 'secret/key', 'owner')).toBe('changed\n');
      await scene.client.call('StopSandbox', { sandbox_id: sandbox.id });
      expect(paths(await listed(scene, sandbox, 'secret', 'owner'))).toEqual(['secret/key']);
    },
  },
  {
    name: 'the pages of a listing contain each entry once, in byte order of the paths',
    async run(scene) {
      const sandbox = await scene.sandboxOn({ 'a/x': '', 'a.b': '', a0: '' });
      await scene.output(sandbox, 'for i in $(seq 40); do mkdir -p d$i/e; : > d$i/e/f; : > d$i.x; done; ln -s a l');
      const whole = await listed(scene, sandbox, '', 'agent', 1000);
      expect(`${paths(whole).join('\n')}\n`).toBe(await scene.output(sandbox, 'find * | LC_ALL=C sort'));
      expect(await listed(scene, sandbox, '', 'agent', 7)).toEqual(whole);
      const flat = await scene.client.call('ListDirectory', { ...at(sandbox, 'a/'), recursive: false });
      expect(paths(flat.files)).toEqual(['a/x']);
      const wrong = scene.client.call('ListDirectory', { ...at(sandbox, ''), page_token: 'x' });
      await expectRefusal(wrong, 'INVALID_ARGUMENT', /^page_token/);
    },
  },
  {
    name: 'unknown sandboxes and sandboxes without files are refused',
    runtimes: EVERY,
    async run(scene) {
      const none = { sandbox_id: 'sb_none', as: 'owner', path: 'f' };
      await expectRefusal(scene.client.call('StatFile', none), 'NOT_FOUND', /sb_none/);
      await expectRefusal(scene.client.write('WriteFile', none, 'x'), 'NOT_FOUND', /sb_none/);
      await expectRefusal(scene.client.read('ReadFile', none), 'NOT_FOUND', /sb_none/);
      await expectRefusal(scene.client.read('ExportFiles', none), 'NOT_FOUND', /sb_none/);
      await expectRefusal(scene.client.write('ImportFiles', none, 'x'), 'NOT_FOUND', /sb_none/);
      if (scene.runtime !== 'mock') return;
      const sandbox = await scene.sandboxOn({ f: 'f' });
      await expectRefusal(scene.client.call('StatFile', at(sandbox, 'f')), 'FAILED_PRECONDITION', /runtime mock/);
    },
  },
];

contract('files of a sandbox', cases);
