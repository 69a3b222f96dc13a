// Size: the text of one program in another language.
import { fewMountsProgram } from './few-mounts-program.ts';

const NUMBERS = {
  capset: 126,
  close: 3,
  dup3: 292,
  exit: 231,
  mknodat: 259,
  mount: 165,
  openat: 257,
  prctl: 157,
  prlimit: 302,
  setgroups: 116,
  setns: 308,
  setresgid: 119,
  setresuid: 117,
  setsid: 112,
  sigmask: 14,
  signalfd: 289,
  umount: 166,
  unshare: 272,
  write: 1,
};

/** Numbers of the system calls that Perl has no functions for. */
const SYSTEM_CALLS: Partial<Record<NodeJS.Architecture, Record<keyof typeof NUMBERS, number>>> = {
  x64: NUMBERS,
  arm64: {
    capset: 91,
    close: 57,
    dup3: 24,
    exit: 94,
    mknodat: 33,
    mount: 40,
    openat: 56,
    prctl: 167,
    prlimit: 261,
    setgroups: 159,
    setns: 268,
    setresgid: 149,
    setresuid: 147,
    setsid: 157,
    sigmask: 135,
    signalfd: 74,
    umount: 39,
    unshare: 97,
    write: 64,
  },
};

/** Bytes of a process's stderr that are passed on; the rest is read and dropped. */
const MOST_SAID = 500;

/** A resource of setrlimit(2) by its number, and its limits. */
export interface ProcessLimit {
  resource: number;
  soft: number;
  hard: number;
}

/**
 * Program of the spawner (perl), in whose place a large process would be copied at each fork. It reads requests from its
 * standard input, one a line, as words separated by blanks, with %XX for octets; it ends with its input.
 *
 *     s ID NICENESS FILE…       starts a process, which enters the cgroups of these cgroup.procs files, sets its limits and waits;
 *                               NICENESS: `-` for that of the spawner
 *     l ID NEEDED UID FILE FILE PROGRAM…
 *                               the waiting process opens the files as descriptors 3 and 4, becomes that user with that group and
 *                               no privileges, and executes the program; UID: `-` for that of the spawner. NEEDED: `-`, or the paths
 *                               whose mounts suffice (fewMountsProgram), each ended by NUL, the first of them the program's
 *     k ID                      SIGKILL
 *     m ID                      closes its stderr, which is not read any more
 *     n ID FILE…                makes FIFOs with mode 0600; answered by `n ID ERRNO`
 *     g ID FD INODE SIZE        makes a FIFO that the server has open larger, if the descriptor is still that FIFO
 *
 * It answers `r` once it is ready, and for a process `p ID PID`, `o ID TEXT` for what it says on stderr, and at the end, after
 * all of that, `x ID STATUS` (of wait(2)), or `f ID ERRNO` if it could not be started.
 *
 * The parts of prelude.ts that a process does before its program: a failure to enter a cgroup or to set the niceness ends it. It has
 * no environment, its own session, and descriptors 0 to 4 only. PDEATHSIG ends it with this process, and this one with the server.
 * It opens its files by system calls: each handle of Perl takes three more of them, and touches pages that are copied then.
 *
 * SIGCHLD is read from a descriptor (signalfd(2)): a handler would be run between two operations of Perl, and could come
 * too late for the wait that follows. Returns undefined for an architecture whose system calls are not known.
 */
export function spawnerProgram(
  { oomScoreAdj, limits, umask }: { oomScoreAdj: number; limits: readonly ProcessLimit[]; umask: number },
  architecture: NodeJS.Architecture = process.arch,
): string | undefined {
  const numbers = SYSTEM_CALLS[architecture];
  if (numbers === undefined) return undefined;
  const { capset, mknodat, prctl, prlimit, setgroups, setresgid, setresuid, setsid, sigmask, signalfd } = numbers;
  const { close, dup3, exit, openat, write } = numbers;
  return `
use strict;
use Fcntl qw(O_NONBLOCK O_RDONLY O_WRONLY);
syscall(436, 3, 0xffffffff, 0) == 0 or exit 1;
syscall(${prctl}, 1, 9, 0, 0, 0);
exit 1 if getppid() != $ARGV[0];
$SIG{PIPE} = "IGNORE";
%ENV = ();
umask 0077;
my $self = $$;
my ($ended, $none) = (pack("Q", 1 << 16), pack("Q", 0));
syscall(${sigmask}, 0, $ended, 0, 8);
my $descriptor = syscall(${signalfd}, -1, $ended, 8, 0x80800);
exit 1 if $descriptor < 0;
open(my $signals, "<&=", $descriptor) or exit 1;
my (%pid, %id, %input, %errors, %said, %status);
# No program gets a capability: processes inherit it, and the spawner itself keeps those that it has. Only root can do that.
my $is_bounded = 1;
for my $capability (0 .. 63) {
  my $has = syscall(${prctl}, 23, $capability, 0, 0, 0);
  last if $has < 0;
  $is_bounded = 0 unless $has == 0 || syscall(${prctl}, 24, $capability, 0, 0, 0) == 0;
}

${fewMountsProgram(numbers)}
sub report {
  my $text = join(" ", @_) . "\\n";
  while (length $text) {
    my $size = syswrite(STDOUT, $text);
    exit 1 unless $size;
    substr($text, 0, $size) = "";
  }
}

# Not by Perl's exit, which complains of the handles that "become" has closed.
sub leave { syscall(${exit}, $_[0]) }

sub fail {
  syswrite(STDERR, "$_[0]\\n");
  leave(1);
}

# Returns the descriptor, which programs inherit, or a negative number.
sub open_file {
  my ($file, $flags) = @_;
  return syscall(${openat}, -100, $file, $flags, 0);
}

sub move {
  my ($from, $to) = @_;
  return $from >= 0 && syscall(${dup3}, $from, $to, 0) == $to && syscall(${close}, $from) == 0;
}

sub put {
  my ($file, $text) = @_;
  my $fd = open_file($file, O_WRONLY);
  return 0 if $fd < 0;
  my $size = syscall(${write}, $fd, $text, length $text);
  return syscall(${close}, $fd) == 0 && $size == length $text;
}

sub limit {
  my ($resource, $soft, $hard) = @_;
  my ($old, $new) = (pack("QQ", 0, 0), pack("QQ", $soft, $hard));
  return if syscall(${prlimit}, 0, $resource, $new, 0) == 0;
  # A process without privileges keeps its hard limit.
  syscall(${prlimit}, 0, $resource, 0, $old);
  $new = pack("QQ", $soft, (unpack("QQ", $old))[1]);
  syscall(${prlimit}, 0, $resource, $new, 0);
}

# For good: there are no other groups, no capability in any set, and no program gives any. Like setpriv(1) in prelude.ts.
sub drop {
  my ($uid) = @_;
  # setresuid(2) takes the greatest number for "as before".
  $uid =~ /^[1-9][0-9]{0,9}$/ && $uid < 4294967295 or fail("no user: $uid");
  $uid += 0;
  syscall(${prctl}, 38, 1, 0, 0, 0) == 0 or fail("no_new_privs: $!");
  $is_bounded or fail("capabilities");
  syscall(${setgroups}, 0, 0) == 0 or fail("setgroups: $!");
  syscall(${setresgid}, $uid, $uid, $uid) == 0 or fail("setresgid: $!");
  syscall(${setresuid}, $uid, $uid, $uid) == 0 or fail("setresuid: $!");
  # The change of the user has cleared the other sets.
  my ($version, $none) = (pack("LL", 0x20080522, 0), pack("L6", (0) x 6));
  syscall(${capset}, $version, $none) == 0 or fail("capset: $!");
  # The change of the user has cleared it. A spawner that has ended before is not the parent any more.
  syscall(${prctl}, 1, 9, 0, 0, 0) == 0 or fail("pdeathsig: $!");
  leave(1) if getppid() != $self;
}

# In the new process; never returns. Of Perl's handles only those of 0 and 2 are used from here on: the others' numbers are those of
# other files.
sub become {
  my ($pipes, $niceness, @entries) = @_;
  syscall(${prctl}, 1, 9, 0, 0, 0);
  leave(1) if getppid() != $self;
  syscall(${setsid});
  syscall(${sigmask}, 2, $none, 0, 8);
  $SIG{PIPE} = "DEFAULT";
  move(fileno($pipes->[0]), 0) && move(fileno($pipes->[3]), 2) && move(open_file("/dev/null", O_WRONLY), 1) or leave(1);
  syscall(436, 3, 0xffffffff, 0) == 0 or leave(1);
  umask ${umask};
  chdir("/") or fail("chdir: $!");
  for my $file (@entries) { put($file, "0\\n") or fail("$file: $!") }
  if ($niceness ne "-") { setpriority(0, 0, $niceness) or fail("setpriority: $!") }
  put("/proc/self/oom_score_adj", "${oomScoreAdj}\\n");
${limits.map(({ resource, soft, hard }) => `  limit(${resource}, ${soft}, ${hard});`).join('\n')}
  my $line = "";
  until ($line =~ /\\n/) { sysread(STDIN, $line, 65536, length $line) or leave(0) }
  chomp $line;
  my ($namespace, $uid, $third, $fourth, @program) = words($line);
  enter_few($namespace) if $namespace ne "-";
  move(open_file("/dev/null", O_RDONLY), 0) or fail("/dev/null: $!");
  for my $file ([$third, 3], [$fourth, 4]) {
    my $fd = open_file($file->[0], O_RDONLY);
    fail("$file->[0]: $!") if $fd < 0;
    fail("descriptors") if $fd != $file->[1];
  }
  drop($uid) if $uid ne "-";
  exec { $program[0] } @program;
  fail("$program[0]: $!");
}

sub words { return map { octets($_) } split(/ /, $_[0]) }

sub start {
  my ($id, $niceness, @entries) = @_;
  my ($input, $hold, $errors, $say);
  unless (pipe($input, $hold) && pipe($errors, $say)) { report("f", $id, $! + 0); return }
  my $pid = fork();
  unless (defined $pid) { report("f", $id, $! + 0); return }
  become([$input, $hold, $errors, $say], $niceness, @entries) if $pid == 0;
  ($pid{$id}, $id{$pid}, $input{$id}, $errors{$id}, $said{$id}) = ($pid, $id, $hold, $errors, 0);
  report("p", $id, $pid);
}

# The end is reported after all output.
sub finish {
  my ($id) = @_;
  return if !defined $status{$id} || $errors{$id};
  report("x", $id, $status{$id});
  delete $_->{$id} for (\\%status, \\%input, \\%said);
}

sub listen_to {
  my ($id) = @_;
  my $size = sysread($errors{$id}, my $text, 4096);
  if (!$size) { delete $errors{$id}; finish($id); return }
  $text = substr($text, 0, ${MOST_SAID} - $said{$id});
  $said{$id} += length $text;
  report("o", $id, $text =~ s/([^!-\\$&-~])/sprintf("%%%02X", ord $1)/ger) if length $text;
}

sub make_fifos {
  my ($id, @files) = @_;
  for my $file (@files) {
    if (syscall(${mknodat}, -100, $file, 010600, 0) != 0) { report("n", $id, $! + 0); return }
  }
  report("n", $id, 0);
}

# Node has no fcntl(2). 1031: F_SETPIPE_SZ. Beyond the limits of pipe(7) it fails, and the FIFO stays as it is.
sub grow {
  my ($fd, $inode, $size) = @_;
  sysopen(my $fifo, "/proc/$ARGV[0]/fd/$fd", O_RDONLY | O_NONBLOCK) or return;
  fcntl($fifo, 1031, $size + 0) if -p $fifo && (stat(_))[1] == $inode;
}

sub request {
  my ($what, $id, $rest) = @_;
  if ($what eq "n") { make_fifos($id, words($rest)); return }
  if ($what eq "g") { grow(words($rest)); return }
  if ($what eq "s") { start($id, words($rest)); return }
  if ($what eq "l" && $input{$id}) {
    my ($needed, $launch) = split(/ /, $rest, 2);
    syswrite($input{$id}, few_for($needed) . " $launch\\n");
    delete $input{$id};
  }
  kill("KILL", $pid{$id}) if $what eq "k" && $pid{$id};
  if ($what eq "m" && $errors{$id}) { delete $errors{$id}; finish($id) }
}

report("r");
my $text = "";
for (;;) {
  make_few();
  my $ready = "";
  vec($ready, 0, 1) = 1;
  vec($ready, fileno($signals), 1) = 1;
  vec($ready, fileno($_), 1) = 1 for values %errors;
  vec($ready, fileno($maker{output}), 1) = 1 if %maker;
  my $changed = "";
  vec($changed, fileno($mounts), 1) = 1 if $mounts && !$changed_at;
  my $count = select($ready, undef, $changed, $changed_at ? 1 : undef);
  check_few() if $changed_at && $changed_at != time;
  next unless $count > 0;
  $changed_at = time if $mounts && vec($changed, fileno($mounts), 1);
  finish_few() if %maker && vec($ready, fileno($maker{output}), 1);
  for my $id (keys %errors) { listen_to($id) if vec($ready, fileno($errors{$id}), 1) }
  if (vec($ready, fileno($signals), 1)) {
    sysread($signals, my $which, 4096);
    while ((my $gone = waitpid(-1, 1)) > 0) {
      my $id = delete $id{$gone};
      next unless defined $id;
      delete $pid{$id};
      $status{$id} = $?;
      finish($id);
    }
  }
  next unless vec($ready, 0, 1);
  sysread(STDIN, $text, 65536, length $text) or exit 0;
  while ($text =~ s/^([^\\n]*)\\n//) {
    my ($what, $id, $rest) = $1 =~ /^([slkmng]) ([0-9]+)(?: (.*))?$/ or exit 1;
    request($what, $id, $rest // "");
  }
}
`;
}
