import { cpSync, lstatSync, mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { GIT_INCLUDE } from '../executor/programs.ts';
import { HOME } from '../sandbox-environment.ts';
import { INNER_ID } from './arguments.ts';

/**
 * The second `files` makes a name unknown where no network is open, as nothing answers questions then: without it the error
 * would be a temporary one, after which programs try again.
 */
const NSSWITCH = 'passwd: files\ngroup: files\nhosts: files dns files\nservices: files\nprotocols: files\n';
/** Where names are answered once the network of the sandbox is open, in the times of programs with another libc as well. */
const RESOLV_CONF = 'nameserver 127.0.0.1\noptions timeout:2 attempts:3\n';

/** Files written for sandboxes; they contain no host data. */
const MADE: Readonly<Record<string, string>> = {
  passwd: [
    'root:x:0:0:root:/root:/usr/sbin/nologin',
    `sandbox:x:${INNER_ID}:${INNER_ID}:sandbox:${HOME}:/bin/sh`,
    'nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin',
    '',
  ].join('\n'),
  group: `root:x:0:\nsandbox:x:${INNER_ID}:\nnogroup:x:65534:\n`,
  hosts: '127.0.0.1 localhost sandbox\n::1 localhost\n',
  hostname: 'sandbox\n',
  'nsswitch.conf': NSSWITCH,
  'resolv.conf': RESOLV_CONF,
  // Read-only directories appear to be owned by another uid, and git refuses repositories of other owners by default.
  gitconfig: `${GIT_INCLUDE}[safe]\n\tdirectory = *\n`,
  profile: '',
  environment: '',
};

const { passwd = '', group = '', hosts = '', hostname = '', gitconfig = '' } = MADE;

/** Files of /etc in place of those of images; `lists` are extended by the lines of an image. */
export const IMAGE_ETC = {
  files: { hosts, hostname, gitconfig, 'nsswitch.conf': NSSWITCH, 'resolv.conf': RESOLV_CONF },
  lists: { passwd, group },
} as const;

/**
 * Files copied from the host if present, whatever their contents: required by programs under /usr; none holds secrets or user
 * names. Others are copied if they are as their packages brought them (package-etc.ts).
 */
const COPIED = [
  'alternatives',
  'ca-certificates.conf',
  'crypto-policies',
  'java-8-openjdk',
  'java-11-openjdk',
  'java-17-openjdk',
  'java-21-openjdk',
  'java-25-openjdk',
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'localtime',
  'mime.types',
  'pki/ca-trust',
  'pki/tls/certs',
  'protocols',
  'services',
  'ssl/cert.pem',
  'ssl/certs',
  'ssl/openssl.cnf',
  'timezone',
];

/** Fills `dir` (new, owned by root) with the /etc of all sandboxes. Symbolic links are copied as links. */
export function writeEtc(
  dir: string,
  { source = '/etc', authorities }: { source?: string; authorities?: string | undefined } = {},
): void {
  mkdirSync(dir, { recursive: true, mode: 0o755 });
  for (const name of COPIED) {
    try {
      mkdirSync(dirname(join(dir, name)), { recursive: true, mode: 0o755 });
      cpSync(join(source, name), join(dir, name), { recursive: true, verbatimSymlinks: true, filter: isPlain });
    } catch {}
  }
  for (const [name, text] of Object.entries(MADE)) writeFileSync(join(dir, name), text, { mode: 0o644 });
  if (authorities !== undefined) writeBundles(dir, authorities);
}

/** Where programs of the distributions look for the authorities that they trust. */
const BUNDLES = ['ssl/certs/ca-certificates.crt', 'pki/tls/certs/ca-bundle.crt', 'ssl/ca-bundle.pem', 'ssl/cert.pem'];

/** Replaces the host's bundles, some of which are links, and makes that of Debian in any case. */
function writeBundles(dir: string, authorities: string): void {
  for (const [index, name] of BUNDLES.entries()) {
    const path = join(dir, name);
    if (index > 0 && lstatSync(path, { throwIfNoEntry: false }) === undefined) continue;
    makeInside(dir, dirname(path));
    rmSync(path, { force: true });
    writeFileSync(path, authorities, { mode: 0o644 });
  }
}

/** Makes a directory of `dir`, in place of a link that leads to the host's files or nowhere. */
function makeInside(dir: string, path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o755 });
    if (realpathSync(path).startsWith(`${realpathSync(dir)}/`)) return;
  } catch {}
  rmSync(path, { force: true });
  mkdirSync(path, { mode: 0o755 });
}

/** Whether the path is a world-readable file, directory or link: this excludes private keys. */
function isPlain(path: string): boolean {
  const stat = lstatSync(path);
  return stat.isSymbolicLink() || stat.isDirectory() || (stat.isFile() && (stat.mode & 0o004) !== 0);
}
