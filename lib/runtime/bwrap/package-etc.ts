import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';

/** The host's files, or those of a test. */
export interface HostFiles {
  etc: string;
  usr: string;
  /** Of dpkg, and of ucf(1), by which packages install files that are not theirs alone. */
  dpkgStatus: string;
  ucfHashes: string;
  /** Uid of the files that packages install. */
  owner: number;
}

const HOST_FILES: HostFiles = {
  etc: '/etc',
  usr: '/usr',
  dpkgStatus: '/var/lib/dpkg/status',
  ucfHashes: '/var/lib/ucf/hashfile',
  owner: 0,
};

/** All shown files have their place in the file system of the agent files. */
const MAX_FILE_BYTES = 1024 ** 2;
const MAX_BYTES = 16 * 1024 ** 2;
const MAX_LINKS = 10_000;
const MAX_DEPTH = 8;
const FIND_MS = 20_000;
const FIND_BYTES = 16 * 1024 ** 2;

/** Secrets and the identity of the machine, whatever a package says. The environment of shells is the service's. */
const NEVER =
  /(^|\/)(g?shadow|g?passwd|group|sub[ug]id|machine-id|hostname|hosts|sudoers|sudoers\.d|ssh|private|letsencrypt|cloud|bash\.bashrc|profile|environment)-?(\/|$)|\.(key|p12|pfx|jks|keytab)$|secret|credential|passw|token(?!iz)|netrc|htpasswd|npmrc|pypirc|pip\.conf/i;
/** Directories whose links say what the machine runs. */
const OF_SERVICES = /^(systemd|rc.\.d|init\.d|cron.*|runit|sv)$/;

/**
 * Adds to `dir`, the /etc of sandboxes, what packages have installed in the host's: files that are as their package brought
 * them, so that nobody has written a secret into them; files to which links of /usr lead, if no package answers for their
 * contents; and links between these. A file that somebody has changed is left out. What is in `dir` already stays.
 */
export async function addPackageFiles(dir: string, host: HostFiles = HOST_FILES): Promise<void> {
  const hashes = packagedHashes(host);
  // Without sums nothing tells what an administrator has changed.
  const targets = hashes.size > 0 ? await linkedFromUsr(host) : [];
  const budget = { bytes: MAX_BYTES, links: MAX_LINKS };
  for (const path of new Set([...hashes.keys(), ...targets])) addFile(dir, path, host, hashes.get(path), budget);
  for (const path of targets) addDirectory(dir, path, host.etc);
  for (const { name } of readdirSync(dir, { withFileTypes: true }).filter((entry) => entry.isDirectory())) {
    if (!OF_SERVICES.test(name)) addLinks(dir, name, host, budget, MAX_DEPTH);
  }
}

/**
 * MD5 sums of the files that packages have in /etc, by their path below it. Empty on systems without dpkg. A file that dpkg is
 * about to install has a word that is no sum, and is left out.
 */
function packagedHashes({ dpkgStatus, ucfHashes }: HostFiles): Map<string, string> {
  const found = new Map<string, string>();
  for (const [, path, hash] of text(dpkgStatus).matchAll(/^ \/etc\/(\S+) ([0-9a-f]{32}|newconffile)(?: \S+)*$/gm)) {
    found.set(path!, hash!);
  }
  for (const [, hash, path] of text(ucfHashes).matchAll(/^([0-9a-f]{32}) +\/etc\/(\S+)$/gm)) found.set(path!, hash!);
  return found;
}

/** Paths below /etc of files to which links of packages lead. Those of the administrator are in /usr/local. */
async function linkedFromUsr({ etc, usr }: HostFiles): Promise<string[]> {
  const args = [usr, '-xdev', '-path', join(usr, 'local'), '-prune', '-o', '-type', 'l', '-lname', '*etc/*'];
  const options = { cwd: '/', env: {}, timeout: FIND_MS, maxBuffer: FIND_BYTES };
  const { stdout } = await promisify(execFile)('/usr/bin/find', [...args, '-printf', '%p\\0%l\\0'], options).catch(
    () => ({
      stdout: '',
    }),
  );
  const words = stdout.split('\0');
  const found: string[] = [];
  for (let at = 0; at + 1 < words.length; at += 2) {
    const target = resolve(dirname(words[at]!), words[at + 1]!);
    if (target.startsWith(`${etc}/`)) found.push(target.slice(etc.length + 1));
  }
  return found;
}

function addFile(
  dir: string,
  path: string,
  { etc, owner }: HostFiles,
  hash: string | undefined,
  budget: { bytes: number },
): void {
  const place = join(dir, path);
  if (NEVER.test(path) || exists(place) || !isReachable(etc, path)) return;
  const data = readPublic(join(etc, path), owner);
  if (data === undefined || data.length > budget.bytes) return;
  if (hash !== undefined && createHash('md5').update(data).digest('hex') !== hash) return;
  budget.bytes -= data.length;
  try {
    mkdirSync(dirname(place), { recursive: true, mode: 0o755 });
    writeFileSync(place, data, { mode: 0o644 });
  } catch {
    // A link or a file of `dir` stands in its way.
  }
}

/** A directory to which a link of /usr leads is there, if only empty. */
function addDirectory(dir: string, path: string, etc: string): void {
  try {
    if (lstatSync(join(etc, path)).isDirectory()) mkdirSync(join(dir, path), { recursive: true, mode: 0o755 });
  } catch {
    // It does not exist, or a file of `dir` stands in its way.
  }
}

/** Links of one directory whose targets are shown, and those of the directories in it. */
function addLinks(dir: string, path: string, host: HostFiles, budget: { links: number }, depth: number): void {
  if (depth === 0 || !isReachable(host.etc, join(path, 'x'))) return;
  for (const entry of readdirSync(join(host.etc, path), { withFileTypes: true })) {
    const below = join(path, entry.name);
    if (entry.isDirectory()) addLinks(dir, below, host, budget, depth - 1);
    if (!entry.isSymbolicLink() || NEVER.test(below) || exists(join(dir, below)) || budget.links-- <= 0) continue;
    try {
      const target = realpathSync(join(host.etc, below));
      const inEtc = relative(host.etc, target);
      const isShown = inEtc.startsWith('..') ? target.startsWith(`${host.usr}/`) : exists(join(dir, inEtc));
      if (!isShown) continue;
      mkdirSync(join(dir, path), { recursive: true, mode: 0o755 });
      symlinkSync(readlinkSync(join(host.etc, below)), join(dir, below));
    } catch {
      // It leads nowhere.
    }
  }
}

/** Whether every user reaches the path, through directories only. */
function isReachable(etc: string, path: string): boolean {
  for (let at = dirname(path); at !== '.'; at = dirname(at)) {
    const stat = lstatSync(join(etc, at), { throwIfNoEntry: false });
    if (stat === undefined || !stat.isDirectory() || (stat.mode & 0o001) === 0) return false;
  }
  return true;
}

/** The contents of a file that every user may read. */
function readPublic(path: string, owner: number): Buffer | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const { mode, size, uid } = fstatSync(fd);
    const isPublic = (mode & constants.S_IFMT) === constants.S_IFREG && (mode & 0o004) !== 0 && uid === owner;
    return isPublic && size <= MAX_FILE_BYTES ? readFileSync(fd) : undefined;
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

const exists = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

function text(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
