import { execFileSync } from 'node:child_process';
import fc from 'fast-check';

/** Names with all that a format may have to escape; the last ones git refuses in every patch. */
const NAMES = [
  ...['a', 'b', 'd', 'd/x', 'd/y', 'd/sub', 'd/sub/z', 'e', 'e/f', 'new', 'new/dir/f'],
  ...['with space', ' lead', 'trail ', 'a b', 'a b/c', 'b/a b', '-dash', '--', 'dev/null', 'b/b', 'a/a', '.gitignore'],
  ...['ünï', 'qu"ote', "ap'os", 'back\\slash', '#hash', '.gitmodules', 'x => y', '{b', '~', '.gitnotes/pre'],
  ...[`long/${'n'.repeat(120)}`, `${'p'.repeat(99)}`, `${'q'.repeat(100)}`],
].map((name) => Buffer.from(name));
const CONTROL = ['tab\there', 'new\nline', 'cr\r', '\u001b[31m', '\u0001', 'end\n'].map((name) => Buffer.from(name));
const NOT_UTF8 = ['b\xff\xfe', 'd/\x80', '\xc3'].map((name) => Buffer.from(name, 'latin1'));
const REFUSED_BY_GIT = ['.git/HEAD', 'd/.GIT', 'git~1', 'd/GiT~1. ', '.git. /x', '.git:s', 'a\\.git', 'a\\git~1'];

const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index % 7}\n`).join('');
const CONTENTS = [
  ...[
    '',
    'x\n',
    'x',
    'x\ny\n',
    '\n',
    '\n\n\n',
    'a\r\nb\r\n',
    'a\nb\r\n',
    '-- \n--- a/x\n+++ b/x\n',
    'diff --git a/a b/a\n',
  ],
  ...[
    lines(40),
    `${lines(20)}changed\n${lines(20)}`,
    lines(39),
    `first\n${lines(40)}last`,
    '\ufeffbom\n',
    ' \t \n',
    '\\\n',
  ],
  ...['\0', `${'a'.repeat(8100)}\n\0\n`, 'GIT binary patch\n', 'tail \u0085\u2028 x\n'],
].map((text) => Buffer.from(text));
CONTENTS.push(Buffer.from(Array.from({ length: 3000 }, (_, index) => (index * 31) % 256)));
CONTENTS.push(Buffer.from([0xff, 0xfe, 0x0a, 0x80, 0x0a]));

const MODES = [0o644, 0o664, 0o600, 0o755, 0o775, 0o700, 0o744, 0o645, 0o654, 0o4755, 0o2755];
const KINDS = ['write', 'write', 'append', 'unlink', 'rmtree', 'mkdir', 'rename', 'rename', 'symlink', 'link', 'chmod'];

/** One program's changes of a tree: [kind, path, other path, content, mode], with bytes in hexadecimal. */
export type Steps = readonly (readonly [string, string, string, string, number])[];

export interface Kinds {
  /** Names that are not UTF-8, which the clients do not bring. */
  notUtf8: boolean;
  /** FIFOs, which no format has. */
  special: boolean;
}

/** Random steps; names from a small set, so that they meet. */
export function randomSteps(maxLength: number, { notUtf8, special }: Kinds): fc.Arbitrary<Steps> {
  const names = [
    ...NAMES,
    ...CONTROL,
    ...REFUSED_BY_GIT.map((name) => Buffer.from(name)),
    ...(notUtf8 ? NOT_UTF8 : []),
  ];
  const few = fc.constantFrom(...NAMES.slice(0, 11));
  const name = fc.oneof({ weight: 2, arbitrary: few }, { weight: 1, arbitrary: fc.constantFrom(...names) });
  const hex = name.map((bytes) => bytes.toString('hex'));
  const content = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...CONTENTS) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)) },
  );
  const kind = fc.constantFrom(...KINDS, ...(special ? ['fifo'] : []));
  const mode = fc.constantFrom(...MODES);
  return fc.array(
    fc.tuple(
      kind,
      hex,
      hex,
      content.map((bytes) => bytes.toString('hex')),
      mode,
    ),
    { maxLength },
  );
}

/**
 * Takes [steps, [path of a file, bytes of its contents]...] from stdin, does the steps in the working directory as far as
 * possible, and prints what is there: [path, type, mode, SHA-256 or target], with paths in hexadecimal.
 */
export const PROGRAM = `
import hashlib, json, os, shutil, stat, sys
os.umask(0o022)
def unblocked(path, flags): return os.open(path, flags | os.O_NONBLOCK, 0o666)
def do(kind, path, other, content, mode):
    up = os.path.dirname(path)
    if up and kind in ('write', 'mkdir', 'symlink', 'fifo'): os.makedirs(up, exist_ok=True)
    if kind in ('write', 'append'):
        with open(path, 'wb' if kind == 'write' else 'ab', opener=unblocked) as file: file.write(content)
    elif kind == 'unlink': os.unlink(path)
    elif kind == 'rmtree':
        shutil.rmtree(path) if os.path.isdir(path) and not os.path.islink(path) else os.unlink(path)
    elif kind == 'mkdir': os.mkdir(path)
    elif kind == 'rename': os.rename(path, other)
    elif kind == 'link': os.link(path, other)
    elif kind == 'fifo': os.mkfifo(path)
    elif kind == 'symlink':
        if os.path.lexists(path) and not os.path.isdir(path): os.unlink(path)
        os.symlink(other, path)
    elif kind == 'chmod' and not os.path.islink(path): os.chmod(path, mode | (0o700 if os.path.isdir(path) else 0o400))
given = sys.stdin.read()
for kind, path, other, content, mode in json.loads(given) if given else []:
    try: do(kind, *map(bytes.fromhex, (path, other, content)), mode)
    except OSError: pass
found = []
for at, directories, files in os.walk(b'.'):
    for name in directories + files:
        path = os.path.join(at, name)
        status = os.lstat(path)
        if stat.S_ISLNK(status.st_mode): rest = ['symlink', os.readlink(path).hex()]
        elif stat.S_ISDIR(status.st_mode): rest = ['directory', '']
        elif not stat.S_ISREG(status.st_mode): rest = ['other', '']
        else: rest = ['file', hashlib.sha256(open(path, 'rb').read()).hexdigest()]
        found.append([path[2:].hex(), rest[0], stat.S_IMODE(status.st_mode) & 0o777, rest[1]])
json.dump(found, sys.stdout)
`;

export type Entry = readonly [path: string, type: string, mode: number, content: string];

/** Does the steps in a local directory; returns what is there. */
export function actLocally(directory: string, steps: Steps = []): Entry[] {
  const input = JSON.stringify(steps);
  const options = { cwd: directory, input, encoding: 'utf8', maxBuffer: 2 ** 26 } as const;
  return JSON.parse(execFileSync('/usr/bin/python3', ['-c', PROGRAM], options));
}

/** What a format has of the entries, by their readable paths, in order. */
export function shownAs(entries: readonly Entry[], line: (entry: Entry, path: string) => string | undefined): string[] {
  return entries
    .flatMap((entry) => {
      const path = Buffer.from(entry[0], 'hex').toString('latin1');
      const rest = line(entry, path);
      return rest === undefined ? [] : [`${JSON.stringify(path)} ${rest}`];
    })
    .sort();
}
