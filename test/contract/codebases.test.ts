import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { expect } from 'vitest';
import { directoryOfFile } from '../directory.ts';
import { collect } from './client.ts';
import { expectRefusal, type Scene } from './scene.ts';
import { type Case, everywhere, onBothFormats, REAL } from './suite.ts';

const sha256 = (content: string | Uint8Array) => createHash('sha256').update(content).digest('hex');

const BAD_PATHS = ['../x', 'a/../../x', 'a/..', '..', 'a\0b', '', `${'n'.repeat(256)}`, `${'d/'.repeat(2100)}f`];

async function paths(scene: Scene, request: object): Promise<string[]> {
  const { files } = await scene.client.call('ListFiles', request);
  return files.map(({ path, is_dir }) => (is_dir ? `${path}/` : path)).sort();
}

/** An archive of one script, a hard link to it, and a symlink. */
const packedScript = () =>
  packed(
    'mkdir bin && printf "#!/bin/sh\\necho ran\\n" > bin/run && chmod 755 bin/run && ln bin/run bin/same && ln -s bin/run go',
  );

const directory = directoryOfFile();

/** An archive of what a command makes. */
function packed(make: string): Buffer {
  execFileSync('/bin/sh', ['-c', `find . -mindepth 1 -delete; ${make}`], { cwd: directory });
  return execFileSync('tar', ['-czf', '-', ...readdirSync(directory)], { cwd: directory });
}

const cases: Case[] = [
  {
    name: 'imports and exports an archive, which a running sandbox sees at once',
    runtimes: REAL,
    hasSandboxes: true,
    async run(scene) {
      const codebase = await scene.codebase({ 'kept/a': 'a\n', 'bin/run': 'old\n' });
      const { id } = codebase;
      const sandbox = await scene.sandbox(codebase);
      const shell = async (command: string) =>
        (await scene.client.call('Exec', { sandbox_id: sandbox.id, command })).stdout;
      expect(await shell('cat bin/run kept/a; ls')).toBe('old\na\nbin\nkept\n');
      const counts = { files: 2, directories: 1, symlinks: 1, size: 2 * '#!/bin/sh\necho ran\n'.length };
      const { revision, ...counted } = await scene.client.write(
        'ImportCodebaseFiles',
        { codebase_id: id },
        packedScript(),
      );
      expect(counted).toEqual(counts);
      expect((await scene.client.call('GetCodebase', { codebase_id: id })).revision).toBe(revision);
      expect(await shell('./go; cat kept/a; ls . bin')).toBe('ran\na\n.:\nbin\ngo\nkept\n\nbin:\nrun\nsame\n');
      const second = await scene.client.write(
        'ImportCodebaseFiles',
        { codebase_id: id, mode: 'replace', if_revision: revision },
        packedScript(),
      );
      expect(await shell('./go; ls')).toBe('ran\nbin\ngo\n');
      await expectRefusal(
        scene.client.write(
          'ImportCodebaseFiles',
          { codebase_id: id, mode: 'update', if_revision: revision },
          packedScript(),
        ),
        'ABORTED',
        /if_revision/,
      );
      const update = packed(': > .wh.go && mkdir bin && echo new > bin/new');
      await scene.client.write(
        'ImportCodebaseFiles',
        { codebase_id: id, mode: 'update', if_revision: second.revision },
        update,
      );
      expect(await shell('ls . bin; cat bin/new')).toBe('.:\nbin\n\nbin:\nnew\nrun\nsame\nnew\n');
      await scene.client.write('ImportCodebaseFiles', { codebase_id: id, mode: 'replace' }, packedScript());
      const { files } = await scene.client.call('ListFiles', { codebase_id: id, recursive: true });
      expect(files.map(({ path, mode, symlink_target }) => [path, mode.toString(8), symlink_target])).toEqual([
        ['bin', '755', ''],
        ['bin/run', '755', ''],
        ['bin/same', '755', ''],
        ['go', '777', 'bin/run'],
      ]);
      const back = await collect(scene.client.read('ExportCodebaseFiles', { codebase_id: id, path: 'bin' }));
      expect(execFileSync('tar', ['-tf', '-'], { input: back }).toString()).toBe('run\nsame\n');
      await expectRefusal(
        scene.client.write('ImportCodebaseFiles', { codebase_id: id }, Buffer.alloc(2000, 'x')),
        'INVALID_ARGUMENT',
        /invalid checksum/,
      );
      await expectRefusal(
        scene.client.write('ImportCodebaseFiles', { codebase_id: id, mode: 'x' }, packedScript()),
        'INVALID_ARGUMENT',
        /mode/,
      );
      await expectRefusal(
        collect(scene.client.read('ExportCodebaseFiles', { codebase_id: id, path: 'none' })),
        'NOT_FOUND',
        /"none"/,
      );
    },
  },
  {
    name: 'imports archives, plain or compressed, by all modes, and exports equal ones',
    async run(scene) {
      const { id } = await scene.codebase({ 'kept/a': 'a\n', 'bin/run': 'old\n' });
      const codebase_id = id;
      const bring = (mode: string, bytes: Buffer) =>
        scene.client.write('ImportCodebaseFiles', { codebase_id, mode }, bytes);
      const counts = { files: 2, directories: 1, symlinks: 1, size: 2 * '#!/bin/sh\necho ran\n'.length };
      expect(await bring('merge', packedScript())).toMatchObject(counts);
      expect(await paths(scene, { codebase_id, recursive: true })).toEqual(
        ['bin/', 'bin/run', 'bin/same', 'go', 'kept/', 'kept/a'].sort(),
      );
      const zstd = execFileSync('zstd', ['-c'], { input: gunzipSync(packedScript()) });
      const { revision } = await bring('replace', zstd);
      expect(await paths(scene, { codebase_id })).toEqual(['bin/', 'go']);
      expect(await scene.client.call('GetCodebase', { codebase_id })).toMatchObject({ revision, file_count: 3 });
      await bring('update', gunzipSync(packed(': > .wh.go && mkdir bin && echo new > bin/new')));
      const exported = await collect(scene.client.read('ExportCodebaseFiles', { codebase_id, path: 'bin' }));
      const verbose = execFileSync('tar', ['-tvf', '-'], { input: exported }).toString();
      expect(verbose.match(/(?<=\d\d:\d\d ).*/g)).toEqual(['new', 'run', 'same link to run']);
      expect(verbose).toMatch(/-rwxr-xr-x \S+ +19 .* run\n/);
      await expectRefusal(
        scene.client.write('ImportCodebaseFiles', { codebase_id, mode: 'merge', if_revision: revision }, exported),
        'ABORTED',
        /if_revision/,
      );
    },
  },
  {
    name: 'an archive that is cut off, or that is none, changes nothing',
    async run(scene) {
      const { id: codebase_id } = await scene.codebase({ a: 'a\n' });
      const { revision } = await scene.client.call('GetCodebase', { codebase_id });
      const tar = gunzipSync(packedScript());
      for (const bytes of [tar.subarray(0, 700), packedScript().subarray(0, 90), Buffer.alloc(3000, 'none')])
        await expectRefusal(
          scene.client.write('ImportCodebaseFiles', { codebase_id, mode: 'replace' }, bytes),
          'INVALID_ARGUMENT',
        );
      expect((await scene.client.call('GetCodebase', { codebase_id })).revision).toBe(revision);
      expect(await paths(scene, { codebase_id })).toEqual(['a']);
    },
  },
  {
    name: 'creates and shows a codebase',
    async run(scene) {
      const before = Math.floor(Date.now() / 1000);
      const created = await scene.client.call('CreateCodebase', { name: 'my project', owner_id: scene.owner });
      expect(created).toEqual({
        id: expect.stringMatching(/^cb_/),
        name: 'my project',
        owner_id: scene.owner,
        created_at: expect.any(Number),
        file_count: 0,
        total_size: 0,
        status_reason: '',
        totals_outdated: false,
        revision: expect.any(String),
      });
      expect(created.created_at).toBeGreaterThanOrEqual(before);
      expect(await scene.client.call('GetCodebase', { codebase_id: created.id })).toEqual(created);
      expect(await scene.client.call('DeleteCodebase', { codebase_id: created.id })).toEqual({});
    },
  },
  {
    name: 'lists the codebases of one owner, the newest first, page by page',
    async run(scene) {
      const ids = [];
      for (let count = 0; count < 5; count++) ids.push((await scene.codebase({})).id);
      await scene.codebase({}, `${scene.owner}-other`);
      const seen = [];
      let page_token = '';
      do {
        const page = await scene.client.call('ListCodebases', { owner_id: scene.owner, page_size: 2, page_token });
        expect(page.codebases.length).toBeLessThanOrEqual(2);
        seen.push(...page.codebases.map(({ id }) => id));
        page_token = page.next_page_token;
      } while (page_token !== '');
      expect(seen).toEqual(ids.reverse());
    },
  },
  {
    name: 'stores a file and returns it unchanged',
    async run(scene) {
      const { id } = await scene.codebase({});
      const content = Buffer.from(Array.from({ length: 100_000 }, (_, index) => (index * 7) & 0xff));
      const result = await scene.client.upload(id, 'bin/data', content);
      expect(result).toEqual({ size: content.length, checksum: sha256(content) });
      expect((await collect(scene.client.download(id, 'bin/data'))).equals(content)).toBe(true);
    },
  },
  {
    name: 'stores an empty file',
    async run(scene) {
      const { id } = await scene.codebase({});
      expect(await scene.client.upload(id, 'empty', '')).toEqual({ size: 0, checksum: sha256('') });
      expect(await scene.content(await scene.codebase({ empty: '' }), 'empty')).toBe('');
    },
  },
  {
    name: 'ignores a leading slash of a path',
    async run(scene) {
      const { id } = await scene.codebase({});
      await scene.client.upload(id, '/src/a.txt', 'a');
      expect(await paths(scene, { codebase_id: id, recursive: true })).toEqual(['src/', 'src/a.txt']);
      expect((await collect(scene.client.download(id, '/src/a.txt'))).toString()).toBe('a');
    },
  },
  {
    name: 'accepts file names with spaces, percent signs, quotes and non-Latin letters',
    async run(scene) {
      const names = [
        'with space.txt',
        '100%.txt',
        'a%2Fb',
        `"quoted'`,
        'naïve/日本語.txt',
        '.hidden',
        '-rf',
        'a+b&c=d?e#f',
        'new\nline',
      ];
      const { id } = await scene.codebase(Object.fromEntries(names.map((name) => [name, name])));
      for (const name of names) expect((await collect(scene.client.download(id, name))).toString()).toBe(name);
      const listed = await paths(scene, { codebase_id: id, recursive: true });
      expect(listed).toEqual([...names, 'naïve/'].sort());
    },
  },
  {
    name: 'counts files and bytes correctly after creating, overwriting and removing',
    async run(scene) {
      const { id } = await scene.codebase({ 'a.txt': '12345', 'd/b.txt': '123' });
      const count = async () => {
        const { file_count, total_size } = await scene.client.call('GetCodebase', { codebase_id: id });
        return [file_count, total_size];
      };
      expect(await count()).toEqual([2, 8]);
      await scene.client.upload(id, 'a.txt', '1');
      expect(await count()).toEqual([2, 4]);
      expect((await scene.rest.send('DELETE', `/v1/codebases/${id}/files/d/b.txt`)).status).toBe(200);
      expect(await count()).toEqual([1, 1]);
    },
  },
  {
    name: 'counts correctly after many concurrent uploads, also to one path',
    async run(scene) {
      const { id } = await scene.codebase({});
      const uploads = Array.from({ length: 40 }, (_, index) =>
        scene.client.upload(id, `f${index % 20}`, 'x'.repeat(index % 20)),
      );
      await Promise.all(uploads);
      const { file_count, total_size } = await scene.client.call('GetCodebase', { codebase_id: id });
      expect([file_count, total_size]).toEqual([20, 190]);
    },
  },
  {
    name: 'lists one directory, or everything below it',
    async run(scene) {
      const { id: codebase_id } = await scene.codebase({ 'a.txt': 'a', 'src/b.txt': 'bb', 'src/deep/c.txt': 'ccc' });
      expect(await paths(scene, { codebase_id })).toEqual(['a.txt', 'src/']);
      expect(await paths(scene, { codebase_id, path: 'src' })).toEqual(['src/b.txt', 'src/deep/']);
      expect(await paths(scene, { codebase_id, path: '/src', recursive: true })).toEqual([
        'src/b.txt',
        'src/deep/',
        'src/deep/c.txt',
      ]);
    },
  },
  {
    name: 'lists files with size, time and type',
    async run(scene) {
      const before = Math.floor(Date.now() / 1000) - 1;
      const { id } = await scene.codebase({ 'src/b.txt': 'bb' });
      const { files } = await scene.client.call('ListFiles', { codebase_id: id, path: 'src' });
      expect(files).toMatchObject([{ path: 'src/b.txt', size: 2, is_dir: false }]);
      expect(files[0]?.modified_at).toBeGreaterThanOrEqual(before);
      expect(files[0]?.modified_at).toBeLessThanOrEqual(Date.now() / 1000 + 1);
    },
  },
  {
    name: 'lists each file once, page by page',
    async run(scene) {
      const names = Array.from({ length: 7 }, (_, index) => `f${index}`);
      const { id } = await scene.codebase(Object.fromEntries(names.map((name) => [name, ''])));
      const seen = [];
      let page_token = '';
      do {
        const page = await scene.client.call('ListFiles', { codebase_id: id, page_size: 3, page_token });
        expect(page.files.length).toBeLessThanOrEqual(3);
        seen.push(...page.files.map(({ path }) => path));
        page_token = page.next_page_token;
      } while (page_token !== '');
      expect(seen.sort()).toEqual(names);
    },
  },
  {
    name: 'keeps the old file if an upload is interrupted',
    async run(scene) {
      const { id } = await scene.codebase({ 'a.txt': 'old' });
      async function* broken() {
        yield Buffer.alloc(100_000);
        throw new Error('the client breaks off');
      }
      const outcome = await Promise.race([
        scene.client.upload(id, 'a.txt', broken()).then(
          () => 'stored',
          () => 'refused',
        ),
      ]);
      expect(outcome).toBe('refused');
      expect((await collect(scene.client.download(id, 'a.txt'))).toString()).toBe('old');
      const { file_count, total_size } = await scene.client.call('GetCodebase', { codebase_id: id });
      expect([file_count, total_size]).toEqual([1, 3]);
    },
  },
  {
    name: 'a download contains one version of a file that is overwritten repeatedly',
    async run(scene) {
      const { id } = await scene.codebase({ f: 'a'.repeat(300_000) });
      const versions = ['b', 'c', 'd', 'e', 'a'].map((letter) => letter.repeat(300_000));
      const writer = (async () => {
        for (let round = 0; round < 5; round++)
          for (const version of versions) await scene.client.upload(id, 'f', version);
      })();
      const mixtures = [];
      for (let round = 0; round < 25; round++) {
        const text = (await collect(scene.client.download(id, 'f'))).toString();
        if (text.length !== 300_000 || text !== (text[0] ?? '').repeat(300_000)) mixtures.push(text.length);
      }
      await writer;
      expect(mixtures).toEqual([]);
    },
  },
  {
    name: 'refuses invalid paths and paths that leave the codebase',
    async run(scene) {
      const { id } = await scene.codebase({ 'a.txt': 'a' });
      for (const path of BAD_PATHS.filter((each) => each !== '' || scene.client.protocol === 'grpc')) {
        await expectRefusal(scene.client.upload(id, path, 'x'), 'INVALID_ARGUMENT');
        await expectRefusal(scene.client.download(id, path), 'INVALID_ARGUMENT');
      }
      for (const path of BAD_PATHS.filter((each) => each !== '')) {
        await expectRefusal(scene.client.call('ListFiles', { codebase_id: id, path }), 'INVALID_ARGUMENT', 'path');
      }
      expect((await scene.client.call('GetCodebase', { codebase_id: id })).file_count).toBe(1);
    },
  },
  {
    name: 'refuses to upload to the path of a directory, and below a file',
    async run(scene) {
      const { id } = await scene.codebase({ 'd/a.txt': 'a' });
      const upload = (path: string) => scene.client.upload(id, path, 'x');
      await expectRefusal(upload('d'), 'FAILED_PRECONDITION', /^"d" is a directory, not a file$/);
      await expectRefusal(upload('d/a.txt/below'), 'FAILED_PRECONDITION', /^"d\/a.txt" is not a directory$/);
      expect((await scene.client.call('GetCodebase', { codebase_id: id })).total_size).toBe(1);
    },
  },
  {
    name: 'answers NOT_FOUND for a file, a directory and a codebase that do not exist',
    async run(scene) {
      const { id } = await scene.codebase({ 'a.txt': 'a' });
      await expectRefusal(scene.client.download(id, 'absent'), 'NOT_FOUND', 'absent');
      await expectRefusal(scene.client.call('ListFiles', { codebase_id: id, path: 'absent' }), 'NOT_FOUND', 'absent');
      const codebase_id = 'cb_absent';
      await expectRefusal(scene.client.call('GetCodebase', { codebase_id }), 'NOT_FOUND', codebase_id);
      await expectRefusal(scene.client.call('DeleteCodebase', { codebase_id }), 'NOT_FOUND', codebase_id);
      await expectRefusal(scene.client.call('ListFiles', { codebase_id }), 'NOT_FOUND', codebase_id);
      await expectRefusal(scene.client.upload(codebase_id, 'a', 'x'), 'NOT_FOUND', codebase_id);
      await expectRefusal(scene.client.download(codebase_id, 'a'), 'NOT_FOUND', codebase_id);
    },
  },
  {
    name: 'refuses ids that are paths',
    async run(scene) {
      for (const codebase_id of ['..', '../codebases', 'cb_/../..', '.']) {
        const error = await scene.client.call('GetCodebase', { codebase_id }).then(
          () => undefined,
          (thrown: { code: string }) => thrown,
        );
        expect(error?.code).toMatch(/^(INVALID_ARGUMENT|NOT_FOUND)$/);
      }
    },
  },
  {
    name: 'refuses a download of a directory',
    async run(scene) {
      const { id } = await scene.codebase({ 'd/a.txt': 'a' });
      const download = collect(scene.client.download(id, 'd'));
      await expectRefusal(download, 'FAILED_PRECONDITION', /^"d" is a directory$/);
    },
  },
  {
    name: 'refuses to delete a codebase that sandboxes use, listing them',
    hasSandboxes: true,
    async run(scene) {
      const codebase = await scene.codebase({ 'a.txt': 'a' });
      const sandboxes = [await scene.sandbox(codebase), await scene.sandbox(codebase)];
      const remove = () => scene.client.call('DeleteCodebase', { codebase_id: codebase.id });
      const error = await expectRefusal(remove(), 'FAILED_PRECONDITION', /^codebase \S+ is used by sandboxes: sb_/);
      for (const { id } of sandboxes) expect(error.message).toContain(id);
      expect(await scene.content(codebase, 'a.txt')).toBe('a');
      await scene.client.call('StopSandbox', { sandbox_id: sandboxes[0]?.id });
      await expectRefusal(remove(), 'FAILED_PRECONDITION');
      for (const { id } of sandboxes) await scene.client.call('DestroySandbox', { sandbox_id: id });
      expect(await remove()).toEqual({});
      await expectRefusal(scene.client.call('GetCodebase', { codebase_id: codebase.id }), 'NOT_FOUND');
      await expectRefusal(scene.client.download(codebase.id, 'a.txt'), 'NOT_FOUND');
    },
  },
];

onBothFormats('a codebase', everywhere(cases));
