import { execFileSync } from 'node:child_process';
import { linkSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type Member, tar } from '../../lib/archive/tar.ts';
import { fromLatin1 } from '../../lib/byte-string.ts';
import type { Sandbox } from '../../lib/contract/messages.ts';
import { emptyDirectory, putAll } from '../directory.ts';
import { collect } from './client.ts';
import { hide, read, view, write } from './rules.ts';
import { eventually, expectRefusal } from './scene.ts';
import { type Case, contract } from './suite.ts';

const LIST =
  'find . ! -type d -printf "%p -> %l %m %s\\n" | LC_ALL=C sort; find . -type f -exec sha1sum {} + | LC_ALL=C sort';

const at = (sandbox: Sandbox, path = '', as = 'agent') => ({ sandbox_id: sandbox.id, as, path });

const directory = emptyDirectory();
const other = emptyDirectory();

const packed = (directory: string, ...options: string[]) =>
  execFileSync('tar', ['-cf', '-', ...options, '.'], { cwd: directory, maxBuffer: 1 << 30 });

function member(path: string, fields: Partial<Member> & { text?: string } = {}): Member {
  const bytes = Buffer.from(fields.text ?? '');
  return {
    path: fromLatin1(path),
    type: 'file',
    mode: 0o644,
    mtime: 1,
    size: bytes.length,
    async *content() {
      yield bytes;
    },
    ...fields,
  };
}

const archive = (...members: Member[]): Promise<Buffer> =>
  collect(
    tar(
      (async function* () {
        yield* members;
      })(),
    ),
  );

const TREE = { 'README.md': 'readme\n', 'src/main.js': 'main\n', 'src/lib/util.js': 'util\n', 'secret/key': 'key\n' };

const cases: Case[] = [
  {
    name: 'an imported archive has the files that tar would unpack, and its export is equal',
    async run(scene) {
      const files: Record<string, string> = {
        'a b/c': 'c\n',
        'run.sh': '#!/bin/sh\n',
        [`${'long/'.repeat(40)}f`]: 'f\n',
      };
      for (let i = 0; i < 300; i++) files[`many/${i % 7}/${i}`] = `${i}\n`.repeat(i);
      putAll(directory, files);
      execFileSync(
        'sh',
        ['-c', 'chmod 755 run.sh; ln -s ../run.sh "a b/l"; head -c 3000000 /dev/urandom | base64 > big'],
        { cwd: directory },
      );
      const sandbox = await scene.sandboxOn(TREE);
      await scene.output(sandbox, 'ls -R; cat src/main.js');
      const answer = await scene.client.write('ImportFiles', at(sandbox, 'in/side'), packed(directory));
      expect(answer).toMatchObject({ files: 304, symlinks: 1 });
      const whole = execFileSync('sh', ['-c', LIST], { cwd: directory, maxBuffer: 1 << 30 }).toString();
      expect((await scene.output(sandbox, `cd in/side && { ${LIST}; }`)) === whole).toBe(true);
      const back = await collect(scene.client.read('ExportFiles', at(sandbox, 'in/side')));
      execFileSync('tar', ['-xf', '-'], { cwd: other, input: back });
      expect(execFileSync('sh', ['-c', LIST], { cwd: other, maxBuffer: 1 << 30 }).toString() === whole).toBe(true);
      expect(await scene.output(sandbox, 'cat src/main.js; stat -c %Y in/side/run.sh')).toBe(
        `main\n${execFileSync('stat', ['-c', '%Y', 'run.sh'], { cwd: directory })}`,
      );
    },
  },
  {
    name: 'import replaces existing files, keeps others, and creates links within the archive',
    async run(scene) {
      putAll(directory, { 'src/main.js': 'new\n', 'src/one': '1\n' });
      linkSync(join(directory, 'src/one'), join(directory, 'src/two'));
      symlinkSync('main.js', join(directory, 'src/link'));
      const sandbox = await scene.sandboxOn(TREE);
      await scene.output(sandbox, 'ln -s /etc/passwd src/link');
      await scene.client.write('ImportFiles', at(sandbox), packed(directory, '--sort=name'));
      expect(await scene.output(sandbox, 'cat src/main.js src/lib/util.js src/link; stat -c %h src/two')).toBe(
        'new\nutil\nnew\n2\n',
      );
    },
  },
  {
    name: 'an archive with a member that is refused changes nothing',
    async run(scene) {
      const rules = [write('**'), hide('secret/', 1), read('src/lib/', 1), view('src/main.js', 2)];
      const sandbox = await scene.sandboxOn(TREE, rules);
      const parts = { 'secret/x': /"secret/, 'src/lib/new': /"src\/lib\/new"/, 'src/main.js': /"src\/main.js"/ };
      for (const [path, why] of Object.entries(parts)) {
        const bytes = await archive(member('aaa', { text: 'a' }), member('new/b'), member(path), member('zzz'));
        await expectRefusal(scene.client.write('ImportFiles', at(sandbox), bytes), 'PERMISSION_DENIED', why);
      }
      expect((await scene.client.call('ListChanges', { sandbox_id: sandbox.id })).changes).toEqual([]);
      expect(await scene.output(sandbox, 'ls; df --output=used . | tail -n 1')).toMatch(/^README.md\nsrc\n +0\n$/);
      const all = await archive(...Object.keys(parts).map((path) => member(path, { text: 'owner\n' })));
      await scene.client.write('ImportFiles', at(sandbox, '', 'owner'), all);
      expect(await scene.output(sandbox, 'cat src/lib/new; ls secret 2>&1 || true')).toMatch(/^owner\nls: cannot/);
    },
  },
  {
    name: 'export omits files that the agent may not read, and is complete for the owner',
    async run(scene) {
      const sandbox = await scene.sandboxOn(TREE, [write('**'), hide('secret/', 1), view('src/main.js', 1)]);
      await scene.output(sandbox, 'mkfifo fifo; ln -s README.md link; mkdir empty');
      const names = async (path: string, as: string) => {
        const input = await collect(scene.client.read('ExportFiles', at(sandbox, path, as)));
        return execFileSync('tar', ['-tf', '-'], { input }).toString();
      };
      expect(await names('', 'agent')).toBe('README.md\nempty/\nlink\nsrc/\nsrc/lib/\nsrc/lib/util.js\n');
      expect(await names('src', 'agent')).toBe('lib/\nlib/util.js\n');
      expect(await names('', 'owner')).toBe(
        'README.md\nempty/\nlink\nsecret/\nsecret/key\nsrc/\nsrc/lib/\nsrc/lib/util.js\nsrc/main.js\n',
      );
      await expectRefusal(scene.client.read('ExportFiles', at(sandbox, 'secret')), 'NOT_FOUND', /"secret"/);
      await expectRefusal(scene.client.read('ExportFiles', at(sandbox, 'README.md')), 'FAILED_PRECONDITION');
    },
  },
  {
    name: 'malformed and hostile archives are refused with the reason, and change nothing',
    async run(scene) {
      const sandbox = await scene.sandboxOn(TREE);
      await scene.output(sandbox, 'ln -s /etc out; ln -s src in');
      const link = (path: string, target: string) => member(path, { type: 'symlink', target: fromLatin1(target) });
      const hostile: [Member[], RegExp][] = [
        [[member('../x')], /^the archive cannot be imported: "\.\.\/x" contains "\.\."$/],
        [[member('a/../../x')], /contains "\.\."$/],
        [[member('/etc/x')], /"\/etc\/x" is an absolute path$/],
        [[link('l', '/etc'), member('l/x')], /"l\/x" is below "l", which is not a directory$/],
        [[link('l', '..'), member('l/x')], /is below "l"/],
        [[member('out/x')], /"out" is a symbolic link, which is not followed/],
        [[member('in/x')], /"in" is a symbolic link/],
        [[member('README.md/x')], /"README.md\/x" is not a directory/],
        [[member('src')], /"src" is a directory/],
        [[member('n'.repeat(256))], /has more than 255 bytes in one name$/],
        [[member(`${'d/'.repeat(2049)}f`)], /has more than 4096 bytes$/],
        [
          [link('l', 't'.repeat(4096))],
          /"l" is a symbolic link whose target is empty, has a NUL, or has more than 4095 bytes$/,
        ],
        [[member('d', { type: 'directory' }), member('d')], /"d" is a directory and another type$/],
      ];
      for (const [members, why] of hostile) {
        for (const as of ['agent', 'owner']) {
          const bytes = await archive(member('first', { text: 'x' }), ...members);
          const error = await expectRefusal(
            scene.client.write('ImportFiles', at(sandbox, '', as), bytes),
            'INVALID_ARGUMENT',
          ).catch(() =>
            expectRefusal(scene.client.write('ImportFiles', at(sandbox, '', as), bytes), 'FAILED_PRECONDITION'),
          );
          expect(error.message).toMatch(why);
        }
      }
      await expectRefusal(
        scene.client.write('ImportFiles', at(sandbox, 'out'), await archive(member('x'))),
        'FAILED_PRECONDITION',
      );
      expect(await scene.output(sandbox, 'LC_ALL=C ls')).toBe('README.md\nin\nout\nsecret\nsrc\n');
    },
  },
  {
    name: 'names that are not UTF-8 are imported and exported unchanged',
    async run(scene) {
      const sandbox = await scene.sandboxOn({});
      await scene.client.write('ImportFiles', at(sandbox), await archive(member('n\xff\xfe', { text: 'bytes\n' })));
      expect(await scene.output(sandbox, 'cat n* ; ls | od -An -tx1')).toBe('bytes\n 6e ff fe 0a\n');
      const back = await collect(scene.client.read('ExportFiles', at(sandbox)));
      expect(back.subarray(0, 4).toString('latin1')).toBe('n\xff\xfe\0');
    },
  },
  {
    name: 'an archive larger than the quota is refused during the transfer, and leaves nothing',
    async run(scene) {
      const sandbox = await scene.sandboxOn({ kept: 'kept\n' });
      const huge = (async function* () {
        yield (await archive(member('small', { text: 'x' }))).subarray(0, 1024);
        const size = 64 << 20;
        yield (await archive(member('huge', { size }))).subarray(0, 512);
        for (let sent = 0; sent < size; sent += 1 << 20) yield Buffer.alloc(1 << 20);
      })();
      await expectRefusal(
        scene.client.write('ImportFiles', at(sandbox), huge),
        'RESOURCE_EXHAUSTED',
        /exceeds the quota/,
      );
      const many = archive(...Array.from({ length: 1200 }, (_, index) => member(`m/${index}`)));
      await expectRefusal(
        scene.client.write('ImportFiles', at(sandbox), await many),
        'RESOURCE_EXHAUSTED',
        /exceeds the quota/,
      );
      const one = scene.client.write('WriteFile', { sandbox_id: sandbox.id, path: 'f' }, Buffer.alloc(20 << 20));
      await expectRefusal(one, 'RESOURCE_EXHAUSTED', /exceeds the quota/);
      expect(await scene.output(sandbox, 'ls')).toBe('kept\n');
      await eventually('nothing is left of it', async () => {
        const used = await scene.output(sandbox, 'df --output=used,iused . | tail -n 1');
        return /^\s*0\s+[01]\s*$/.test(used);
      });
    },
  },
];

contract('archives of a sandbox', cases, { sandbox: { max_delta_bytes: '16MiB', max_delta_files: 1000 } });
