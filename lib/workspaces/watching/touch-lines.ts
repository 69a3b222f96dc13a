import { type ByteString, fromText } from '../../byte-string.ts';
import { S_IFDIR, S_IFLNK, S_IFMT, S_IFREG } from '../../linux/mode.ts';
import type { ToldChange } from './told-changes.ts';

/** What a toucher is about to do: what is answered to the lookup of a name depends on it. */
export type TouchMode = 'plain' | 'made' | 'goneFile' | 'goneDirectory';

/** Names by which a toucher signs on and off, in the root of the mount. */
export const SIGN_ON = fromText('.toucher');
export const SIGN_OFF = fromText('.toucher-ends');
/** Names that change the mode, in any directory; only a toucher is answered as if they were special. */
export const MODES: ReadonlyMap<ByteString, TouchMode> = new Map([
  [fromText('\x01plain'), 'plain'],
  [fromText('\x01made'), 'made'],
  [fromText('\x01goneFile'), 'goneFile'],
  [fromText('\x01goneDirectory'), 'goneDirectory'],
]);
/** A directory with the files that the kernel knows, by their node ids. */
export const FORMER_FILES = fromText('\x01files');

/**
 * Lines: an operation and hexadecimal byte strings. The child works below the directory of `in` as its root, so that a link
 * which the sandbox puts in its way leads nowhere else. It opens for writing only what nobody may execute: execve(2) would fail with
 * ETXTBSY meanwhile.
 */
export const TOUCHER = String.raw`
use Fcntl; $| = 1; $SIG{PIPE} = 'DEFAULT';
opendir(my $host, '/') or die;
my ($mount, $mode, $inside, $there) = ('', '', 0, 0);
my %utimensat = (x86_64 => 280, aarch64 => 88);
my $number = $utimensat{(split / /, qx(uname -m))[0] =~ s/\s//gr};
sub out {
  chdir($host) && chroot('.') or exit(1) if $inside;
  lstat("$mount/.toucher-ends");
  $inside = $there = 0;
  return 1;
}
sub mode { return if $mode eq $_[0]; $mode = $_[0]; lstat("\x01$mode") }
sub attributes { utime(undef, undef, $_[0]) }
sub modified {
  return attributes($_[0]) unless $number;
  my $times = pack('q4', 0, 1073741822, 0, 1073741823);
  my $name = $_[0];
  return syscall($number, -100, $name, $times, 0x100) == 0;
}
sub closed { my ($file) = @_; truncate($file, -s $file); close($file) }
sub written {
  my ($name) = @_;
  my @stat = lstat($name) or return 0;
  return modified($name) if $stat[2] & 0111;
  sysopen(my $file, $name, O_WRONLY | O_NONBLOCK | O_NOFOLLOW) or return modified($name);
  closed($file);
}
my %do = (
  in => sub {
    ($mount, $mode) = ($_[0], 'plain');
    lstat("$mount/.toucher");
    $inside = chdir($_[1]) && chroot('.');
  },
  out => \&out,
  go => sub { $there = $inside && chdir('/') && ($_[0] eq '' || chdir($_[0])) },
  file => sub {
    mode('made'); my $made = sysopen(my $file, $_[0], O_WRONLY | O_CREAT | O_EXCL | O_NONBLOCK | O_NOFOLLOW);
    mode('plain'); $made ? closed($file) : written($_[0]);
  },
  program => sub {
    mode('made'); my $made = sysopen(my $file, $_[0], O_RDONLY | O_CREAT | O_EXCL | O_NONBLOCK | O_NOFOLLOW);
    mode('plain'); $made ? close($file) : modified($_[0]);
  },
  directory => sub { mode('made'); my $made = mkdir($_[0]); mode('plain'); $made || attributes($_[0]) },
  link => sub { mode('made'); my $made = symlink('.', $_[0]); mode('plain'); $made },
  unlink => sub { mode('goneFile'); my $gone = unlink($_[0]); mode('plain'); $gone },
  rmdir => sub { mode('goneDirectory'); my $gone = rmdir($_[0]); mode('plain'); $gone },
  written => \&written,
  attributes => sub { attributes($_[0] eq '' ? '.' : $_[0]) },
);
while (my $line = <STDIN>) {
  chomp $line;
  my ($op, @names) = split / /, $line, -1;
  # In no other directory, and nowhere outside: a sandbox may have ended, or renamed what is on the way.
  my $may = $there || $op =~ /^(in|out|go)$/;
  print(($may && $do{$op}->(map { pack('H*', $_) } @names) ? 1 : 0) . "\n");
}
out();
`;

/** The lines for changes of one workspace. `watched`: inode numbers. */
export function touchLines(
  mountPoint: string,
  place: string,
  changes: readonly ToldChange[],
  watched: ReadonlySet<number>,
): string[] {
  const lines: string[] = [];
  let at: ByteString | undefined;
  const go = (dir: ByteString) => {
    if (dir !== at) lines.push(line('go', dir));
    at = dir;
  };
  for (const change of changes) {
    const files = change.files.filter(({ ino }) => watched.has(ino));
    const isReplaced = change.kind === 'written';
    if (watched.has(change.ino) || files.some(({ former }) => !former || !isReplaced)) {
      go(change.dir);
      lines.push(line(operationOf(change), change.name));
    }
    for (const { nodeid, former } of isReplaced ? files : []) {
      if (!former) continue;
      go(FORMER_FILES);
      lines.push(line('written', fromText(String(nodeid))));
    }
  }
  if (lines.length === 0) return lines;
  const root = fromText(`${mountPoint}/${place}/workspace`);
  return [line('in', fromText(mountPoint), root), ...lines, 'out'];
}

function operationOf({ kind, mode }: ToldChange): string {
  const type = mode & S_IFMT;
  if (kind === 'gone') return type === S_IFDIR ? 'rmdir' : 'unlink';
  if (kind !== 'made') return kind;
  if (type === S_IFREG) return (mode & 0o111) === 0 ? 'file' : 'program';
  return type === S_IFDIR ? 'directory' : type === S_IFLNK ? 'link' : 'attributes';
}

function line(operation: string, ...names: readonly ByteString[]): string {
  return [operation, ...names.map((name) => Buffer.from(name, 'latin1').toString('hex'))].join(' ');
}
