/**
 * The program that gives a command its terminal, for perl without any module (an image may have none, and
 * POSIX.pm would take 14 ms to load). The descriptors and arguments are those of `terminalParts`.
 *
 * Three processes: this one waits for the command's program, a copier passes bytes, and the program is the leader of the
 * terminal's session. The kernel hangs the terminal up when the leader ends, so that background jobs cannot hold it.
 *
 * - The copier has the slave open, so that the master stays readable while the program has closed its streams.
 * - It never waits for one direction only: a program that does not read its input must still be read, and ^C must arrive
 *   while nobody reads the output. A write of up to PIPE_BUF bytes to a pipe that select reports writable does not block.
 * - After the program's end it passes what is in the terminal and no more than that: a process may open the terminal again.
 * - New sizes come before the input that was written after them.
 */
export const PERL_PROGRAM = `
my ($step, $last_bytes) = (4096, 262144);
my ($rows, $columns, $count, $setsid) = @ARGV;
my @words = map { delete $ENV{"_$_"} } 0 .. $count - 1;
open(my $say, '>&=', 4) && open(my $sizes, '<&=', 3) or exit 1;
sub failed { syswrite($say, 'p'); exit 1 }
my ($master, $slave, $number) = (undef, undef, pack('i', 0));
open($master, '+<', '/dev/ptmx') && ioctl($master, 0x40045431, $number) && ioctl($master, 0x80045430, $number) or failed;
my $tty = '/dev/pts/' . unpack('i', $number);
sysopen($slave, $tty, 0402) or failed;
my $modes = "\\0" x 64;
if (ioctl($slave, 0x5401, $modes)) {
  ioctl($slave, 0x5402, my $utf8 = pack('L', unpack('L', $modes) | 0x4000) . substr($modes, 4));
}
sub resize { ioctl($master, 0x5414, my $size = pack('S4', @_, 0, 0)) }
resize($rows, $columns);
my @signals = grep { !/^(CHLD|CLD|KILL|STOP|CONT)$/ } keys %SIG;
$SIG{$_} = 'IGNORE' for @signals;
pipe(my $end, my $alive) or failed;
my $copier = fork;
defined $copier or failed;
if ($copier == 0) {
  close $say;
  close $alive;
  fcntl($_, 4, 2048) for $master, $sizes;
  my ($in, $out, $last, $open, $ended) = ('', '', "\\n", 1, 0);
  until ($ended && $out eq '') {
    my ($r, $w) = ('', '');
    vec($r, 0, 1) = 1 if $open && $in eq '';
    vec($r, fileno $_, 1) = 1 for $end, $sizes ? $sizes : ();
    vec($r, fileno $master, 1) = 1 if $out eq '';
    vec($w, fileno $master, 1) = 1 if $in ne '';
    vec($w, 1, 1) = 1 if $out ne '';
    next if select($r, $w, undef, undef) < 0;
    $ended = 1 if vec($r, fileno $end, 1);
    if ($sizes && (vec($r, fileno $sizes, 1) || vec($r, 0, 1))) {
      my $got = sysread($sizes, my $lines, $step);
      resize($1, $2) if $got && $lines =~ /(\\d+) (\\d+)\\n\\z/;
      undef $sizes if defined $got && $got == 0;
    }
    if (vec($r, 0, 1)) {
      if (sysread(STDIN, $in, $step)) { $last = substr($in, -1) }
      else { $open = 0; $in = $last =~ /[\\n\\r\\cD]/ ? "\\cD" : "\\cD\\cD" }
    }
    if ($in ne '' && vec($w, fileno $master, 1)) {
      my $took = syswrite($master, $in);
      substr($in, 0, $took) = '' if $took;
    }
    sysread($master, $out, $step) if $out eq '' && vec($r, fileno $master, 1);
    if ($out ne '' && vec($w, 1, 1)) {
      my $took = syswrite(STDOUT, $out);
      exit unless defined $took;
      substr($out, 0, $took) = '';
    }
  }
  for (my $left = $last_bytes; $left > 0 && sysread($master, $out, $step); $left -= length $out) {
    syswrite(STDOUT, $out) or exit;
  }
  exit;
}
my $program = fork;
defined $program or failed;
if ($program == 0) {
  $SIG{$_} = 'DEFAULT' for @signals;
  close $_ for $say, $sizes;
  syscall($setsid);
  open(STDIN, '+<', $tty) && open(STDOUT, '>&STDIN') && open(STDERR, '>&STDIN') or exit 126;
  exec { $words[0] } @words;
  exit 127;
}
close $_ for $say, $sizes, $master, $slave, *STDIN, *STDOUT;
waitpid($program, 0);
my $status = $?;
close $alive;
waitpid($copier, 0);
exit($status & 127 ? 128 + ($status & 127) : $status >> 8);
`;

/** Prints the number of setsid(2) on the machine of perl's own file, whose ioctl numbers are those above; fails on others. */
export const PERL_PROBE = [
  'open(F, "<", "/proc/self/exe") && read(F, $_, 20) == 20 or exit 1;',
  '$n = {62 => 112, 183 => 157, 243 => 157}->{unpack("x18 S", $_)} or exit 1;',
  'print $n',
].join(' ');
