import { expect } from 'vitest';
import { collect } from './client.ts';
import { EVERYTHING, read, write } from './rules.ts';
import { expectRefusal } from './scene.ts';
import { type Case, contract, EVERY } from './suite.ts';

const SECRET = 'sk_live_51HxVerySecretValue';
const ENV = `# payments\nSTRIPE_KEY=${SECRET}\nDEBUG=true\n`;
const SHOWN = /^# payments\nSTRIPE_KEY=sk_live_pdk[a-z2-7]{24}\nDEBUG=true\n$/;
const redacted = (pattern: string) => ({ ...read(pattern, 1), view: 'redacted' });
const RULES = [...EVERYTHING, redacted('**/.env')];

/** Prints what each way of reading gives, and the errors of each way of changing it. */
const DOORS = `
import ctypes, mmap, os, shutil, subprocess, sys
fd = os.open('.env', os.O_RDONLY)
size = os.fstat(fd).st_size
found = {}
found['read'] = os.read(fd, 1 << 20)
found['pread'] = b''.join(os.pread(fd, 1, at) for at in range(size + 4096))
found['mmap'] = mmap.mmap(fd, 0, prot=mmap.PROT_READ)[:]
found['private'] = mmap.mmap(fd, 0, flags=mmap.MAP_PRIVATE)[:]
found['self'] = open(f'/proc/self/fd/{fd}', 'rb').read()
data = os.lseek(fd, 0, os.SEEK_DATA)
found['seek'] = os.pread(fd, os.lseek(fd, data, os.SEEK_HOLE), data)
os.lseek(fd, 0, 0)
direct = os.open('.env', os.O_RDONLY | os.O_DIRECT)
page = mmap.mmap(-1, 4096)
found['direct'] = page[:os.preadv(direct, [page], 0)]
copy = os.open('copy', os.O_RDWR | os.O_CREAT)
while os.copy_file_range(fd, copy, 1 << 20): pass
found['copy_file_range'] = os.pread(copy, 1 << 20, 0)
os.lseek(fd, 0, 0)
sent = os.open('sent', os.O_RDWR | os.O_CREAT)
while os.sendfile(sent, fd, None, 1 << 20): pass
found['sendfile'] = open('sent', 'rb').read()
shutil.copyfile('.env', 'plain')
found['copyfile'] = open('plain', 'rb').read()
for command in ('cat .env', 'grep "" .env', 'tar -cO .env | tar -xO', 'dd if=.env bs=7 status=none', 'cp --reflink=auto .env c2; cat c2'):
    found[command] = subprocess.run(command, shell=True, stdout=subprocess.PIPE).stdout
assert len(set(found.values())) == 1, found
assert len(found['read']) == size == os.stat('.env').st_size
sys.stdout.write(found['read'].decode())
def fails(call):
    try:
        call()
    except OSError as error:
        assert error.errno in (1, 13), error
        return
    raise Exception('permitted')
fails(lambda: open('.env', 'r+'))
fails(lambda: open('.env', 'a'))
fails(lambda: os.truncate('.env', 0))
fails(lambda: os.rename('.env', 'moved'))
fails(lambda: os.rename('plain', '.env'))
fails(lambda: os.link('.env', 'linked'))
assert ctypes.CDLL(None).linkat(-100, f'/proc/self/fd/{fd}'.encode(), -100, b'linked', 0x400) == -1
fails(lambda: os.unlink('.env'))
fails(lambda: os.chmod('.env', 0o777))
fails(lambda: os.rename('dir', 'moved'))
`;

const cases: Case[] = [
  {
    name: 'programs read placeholders through every door, and cannot change the file',
    async run(scene) {
      const sandbox = await scene.sandboxOn({ '.env': ENV, 'dir/.env': ENV }, RULES);
      const text = await scene.output(sandbox, 'python3 -', { stdin: DOORS });
      expect(text).toMatch(SHOWN);
      expect(await scene.output(sandbox, 'grep -rc VerySecret . | grep -v :0; true')).toBe('');
      const of = { sandbox_id: sandbox.id };
      await scene.client.call('CreateCheckpoint', { ...of, name: 'one' });
      await scene.client.call('Rollback', { ...of, checkpoint: 'one' });
      expect(await scene.output(sandbox, 'cat .env')).toBe(text);
      const { results } = await scene.client.call('Fork', of);
      const fork = results[0]!.sandbox!;
      scene.owns(fork);
      const forked = await scene.output(fork, 'cat .env');
      expect(forked).toMatch(SHOWN);
      expect(forked).not.toBe(text);
      await scene.client.call('Commit', of);
      expect(await scene.content({ id: sandbox.codebase_id } as never, '.env')).toBe(ENV);
    },
  },
  {
    name: 'the file API shows the agent placeholders, and the owner the original',
    async run(scene) {
      const sandbox = await scene.sandboxOn({ '.env': ENV }, RULES);
      const as = (actor: string) => ({ sandbox_id: sandbox.id, path: '.env', as: actor });
      const text = (await collect(scene.client.read('ReadFile', as('agent')))).toString();
      expect(text).toMatch(SHOWN);
      expect((await collect(scene.client.read('ReadFile', as('owner')))).toString()).toBe(ENV);
      expect(await scene.client.call('StatFile', as('agent'))).toMatchObject({
        size: text.length,
        permission: 'PERMISSION_READ',
      });
      expect(await scene.client.call('StatFile', as('owner'))).toMatchObject({ size: ENV.length });
      const archive = { sandbox_id: sandbox.id, path: '', as: 'agent', format: 'tar' };
      expect((await collect(scene.client.read('ExportFiles', archive))).toString()).not.toContain('Secret');
      expect(await scene.client.call('PreviewFile', { sandbox_id: sandbox.id, path: '.env' })).toEqual({
        path: '.env',
        redacted: true,
        content: text,
        hidden: false,
        values: [{ key: 'STRIPE_KEY', placeholder: /sk_live_\w+/.exec(text)![0] }],
        value_count: 1,
      });
      const explained = await scene.client.call('ExplainPermission', as('agent'));
      expect(explained).toMatchObject({ permission: 'PERMISSION_READ', winner: { rule: { view: 'redacted' } } });
    },
  },
  {
    name: 'files whose values take long to find are served too, and other files meanwhile',
    async run(scene) {
      const entries = Array.from({ length: 20_000 }, (_, n) => `"key${n}": "Secret${n}"`);
      const files = {
        'big.json': `{${entries.join(',\n')}}`,
        'big.yaml': Array.from({ length: 7_000 }, (_, n) => `key${n}: Secret${n}\n`).join(''),
        'deep.json': '['.repeat(500_000),
        'huge.json': ' '.repeat(2 << 20),
        other: 'other',
      };
      const sandbox = await scene.sandboxOn(files, [...EVERYTHING, redacted('*.{json,yaml}')]);
      const command =
        'ls -l > /tmp/list & cat big.json > /tmp/1 & cat big.yaml > /tmp/2 & cat deep.json huge.json & cat other; wait';
      expect((await scene.output(sandbox, command)).replace('other', '')).toBe('# hidden\n# hidden\n');
      const counts = await scene.output(
        sandbox,
        'cd /tmp; grep -c Secret 1 2; grep -c pdk 1 2; cat 1 2 | wc -c; cd -; cat big.* | wc -c',
      );
      const [, , json, yaml, size, again] = counts.split('\n');
      expect([json, yaml]).toEqual(['1:20000', '2:7000']);
      expect(counts).toContain('1:0\n2:0\n');
      expect(size).toBe(counts.trim().split('\n').at(-1));
      expect(again).toBeDefined();
    },
  },
  {
    name: 'new rules redact what programs have open and cached, and what the sandbox wrote, in its changes too',
    async run(scene) {
      const sandbox = await scene.sandboxOn({ '.env': ENV });
      const of = { sandbox_id: sandbox.id };
      await scene.output(sandbox, "cat .env; echo 'OTHER=VerySecretToo' >> .env; cat .env; ln .env plain");
      await scene.client.call('UpdatePermissions', { ...of, permissions: RULES });
      for (const path of ['.env', 'plain']) {
        expect(await scene.output(sandbox, `cat ${path}`)).toMatch(
          /STRIPE_KEY=sk_live_pdk\w+\nDEBUG=true\nOTHER=pdk\w+\n$/,
        );
      }
      const { changes } = await scene.client.call('ListChanges', { ...of, as: 'agent' });
      expect(changes.map(({ path, size, base_size }) => [path, size, base_size])).toEqual([
        ['.env', 0, 0],
        ['plain', 0, 0],
      ]);
      for (const format of ['patch', 'tar']) {
        const exported = await collect(
          scene.client.read('ExportChanges', { sandbox_id: sandbox.id, format, as: 'agent' }),
        );
        expect(exported.toString()).not.toContain('Secret');
      }
      await scene.client.call('UpdatePermissions', { ...of, permissions: [write('**')] });
      expect(await scene.output(sandbox, 'cat .env')).toContain(SECRET);
    },
  },
  {
    name: 'changes of files with placeholders are merged with the values at a commit',
    async run(scene) {
      const rules = [...EVERYTHING, { ...redacted('**/.env*'), on_write: 'merge' }];
      const sandbox = await scene.sandboxOn({ '.env': ENV, 'dir/.env': ENV }, rules);
      const of = { sandbox_id: sandbox.id };
      const edits = `set -e
cat .env > /tmp/before
sed -i 's/DEBUG=true/DEBUG=false/' .env
echo 'APPENDED=one' >> .env
python3 -c '
import mmap, os
with open(".env", "r+b") as f: m = mmap.mmap(f.fileno(), 0); m[0:10] = b"# changed "; m.flush()'
cp .env copied; ln .env linked; chmod 600 dir/.env; mv dir/.env .env.moved; truncate -s 0 dir/.env || true
cat .env`;
      const text = await scene.output(sandbox, edits);
      expect(text).toMatch(/^# changed \S*\nSTRIPE_KEY=sk_live_pdk\w{24}\nDEBUG=false\nAPPENDED=one\n$/);
      expect(await scene.output(sandbox, 'grep -rc VerySecret . | grep -v :0; true')).toBe('');
      const exported = async (as: string, format: string) =>
        (await collect(scene.client.read('ExportChanges', { sandbox_id: sandbox.id, format, as }))).toString();
      const ours = await exported('agent', 'patch');
      expect(ours).toContain(' STRIPE_KEY=sk_live_pdk');
      expect(ours).toContain('+APPENDED=one');
      expect(ours + (await exported('agent', 'tar'))).not.toContain('Secret');
      const owners = await exported('owner', 'patch');
      expect(owners).toContain(` STRIPE_KEY=${SECRET}\n-DEBUG=true\n+DEBUG=false\n+APPENDED=one`);
      const preview = await scene.client.call('PreviewFile', { ...of, path: '.env' });
      expect(preview).toMatchObject({ redacted: true, content: text, values: [{ key: 'STRIPE_KEY' }], value_count: 1 });
      const { results } = await scene.client.call('Fork', of);
      scene.owns(results[0]!.sandbox!);
      expect(await scene.output(results[0]!.sandbox!, 'cat .env')).toBe(text);
      await scene.client.call('Commit', of);
      const codebase = { id: sandbox.codebase_id } as never;
      const [head] = text.split('\n');
      expect(await scene.content(codebase, '.env')).toBe(`${head}\nSTRIPE_KEY=${SECRET}\nDEBUG=false\nAPPENDED=one\n`);
      for (const path of ['copied', 'linked', '.env.moved']) {
        expect(await scene.content(codebase, path)).toContain('STRIPE_KEY=sk_live_pdk');
      }
      expect((await scene.client.call('ListChanges', of)).changes).toEqual([]);
      expect(await scene.output(sandbox, 'cat .env; grep -rc VerySecret . | grep -v :0; true')).toMatch(
        /STRIPE_KEY=sk_live_pdk\w+\nDEBUG=false\nAPPENDED=pdk\w+\n$/,
      );
    },
  },
  {
    name: 'a rule whose view or redactor is not known is refused',
    runtimes: EVERY,
    async run(scene) {
      const sandbox = scene.sandboxOn({}, [{ ...write('**'), view: 'redacted' }]);
      await expectRefusal(sandbox, 'INVALID_ARGUMENT', /^permissions\[0\]\.view/);
      const other = scene.sandboxOn({}, [{ ...redacted('**'), redactor: 'toml' }]);
      await expectRefusal(other, 'INVALID_ARGUMENT', /^permissions\[0\]\.redactor must be one of dotenv, json/);
      const third = scene.sandboxOn({}, [{ ...write('**'), on_write: 'merge' }]);
      await expectRefusal(third, 'INVALID_ARGUMENT', /^permissions\[0\]\.on_write/);
    },
  },
];

contract('files with placeholders', cases);
