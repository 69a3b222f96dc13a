import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { addPackageFiles, type HostFiles } from '../../../../lib/runtime/bwrap/package-etc.ts';

let base: string;
let dir: string;
let host: HostFiles;

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'paddock-etc-'));
  dir = join(base, 'shown');
  mkdirSync(dir);
  const path = (name: string) => join(base, name);
  host = {
    etc: path('etc'),
    usr: path('usr'),
    dpkgStatus: path('status'),
    ucfHashes: path('ucf'),
    owner: process.getuid!(),
  };
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function write(path: string, text: string, mode = 0o644): void {
  mkdirSync(dirname(join(base, path)), { recursive: true });
  writeFileSync(join(base, path), text, { mode });
}

/** Files of a package, by their names below /etc; `now`: their present text. */
function packaged(files: Record<string, string>, now: Record<string, string> = files): void {
  const md5 = (text: string) => createHash('md5').update(text).digest('hex');
  const lines = Object.entries(files).map(([name, text]) => ` /etc/${name} ${md5(text)}`);
  write('status', `Package: a\nConffiles:\n${lines.join('\n')}\nDescription: a\n`);
  for (const [name, text] of Object.entries(now)) write(`etc/${name}`, text);
}

const shown = (name: string) => (existsSync(join(dir, name)) ? readFileSync(join(dir, name), 'utf8') : undefined);

it('shows the configuration of packages, and not what somebody has changed or added', async () => {
  packaged(
    { 'a/one.conf': 'one', 'a/two.conf': 'two' },
    { 'a/one.conf': 'one', 'a/two.conf': 'password', 'a/own': 'own' },
  );
  write('ucf', `${createHash('md5').update('ini').digest('hex')}  /etc/php/php.ini\n`);
  write('etc/php/php.ini', 'ini');
  await addPackageFiles(dir, host);
  expect(['a/one.conf', 'php/php.ini', 'a/two.conf', 'a/own'].map(shown)).toEqual(['one', 'ini', undefined, undefined]);
});

it('shows nothing that is not for every user, whatever a package says', async () => {
  const names = ['sudoers', 'ssl/private/a.pem', 'ssh/ssh_host_rsa_key', 'x/tls.key', 'machine-id', 'hidden/a', 'open'];
  packaged(Object.fromEntries(names.map((name) => [name, name])));
  chmodSync(join(base, 'etc/hidden'), 0o700);
  chmodSync(join(base, 'etc/open'), 0o640);
  await addPackageFiles(dir, host);
  expect(names.map(shown)).toEqual(names.map(() => undefined));
});

it('shows what links of /usr lead to, unless somebody has changed it', async () => {
  packaged({ 'm/changed': 'public' }, { 'm/changed': 'secret' });
  write('etc/m/generated', 'generated');
  write('etc/m/mine', 'mine');
  mkdirSync(join(base, 'usr/local'), { recursive: true });
  for (const name of ['changed', 'generated']) symlinkSync(`../etc/m/${name}`, join(base, 'usr', name));
  symlinkSync(join(base, 'etc/m/mine'), join(base, 'usr/local/mine'));
  await addPackageFiles(dir, host);
  expect(['m/changed', 'm/generated', 'm/mine'].map(shown)).toEqual([undefined, 'generated', undefined]);
});

it('shows the extension tokenizer of PHP, whose name has no token, and nothing that has one', async () => {
  const names = ['php/available/tokenizer.ini', 'x/token', 'x/api-tokens.conf'];
  packaged(Object.fromEntries(names.map((name) => [name, name])));
  mkdirSync(join(base, 'etc/php/conf.d'));
  symlinkSync('../available/tokenizer.ini', join(base, 'etc/php/conf.d/20-tokenizer.ini'));
  await addPackageFiles(dir, host);
  expect([...names, 'php/conf.d/20-tokenizer.ini'].map(shown)).toEqual([names[0], undefined, undefined, names[0]]);
});

it('shows links between shown files, and no other', async () => {
  packaged({ 'php/available/a.ini': 'a' });
  write('etc/php/other', 'other');
  mkdirSync(join(base, 'etc/php/conf.d'));
  symlinkSync('../available/a.ini', join(base, 'etc/php/conf.d/a.ini'));
  symlinkSync('../other', join(base, 'etc/php/conf.d/other'));
  await addPackageFiles(dir, host);
  expect(['php/conf.d/a.ini', 'php/conf.d/other'].map(shown)).toEqual(['a', undefined]);
});

it('changes nothing that is there', async () => {
  packaged({ hosts: 'of the host', 'nsswitch.conf': 'of the host' });
  writeFileSync(join(dir, 'nsswitch.conf'), 'ours');
  await addPackageFiles(dir, host);
  expect([shown('nsswitch.conf'), shown('hosts')]).toEqual(['ours', undefined]);
});
