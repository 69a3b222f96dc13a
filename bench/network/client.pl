# Runs in a sandbox and beside it: client.pl ADDRESS PORT (down MIB | connections COUNT WORKERS | requests COUNT)
# Prints seconds, or the median in milliseconds.
use strict;
use Socket;
use Time::HiRes qw(time);
my ($address, $port, $what, $count, $workers) = @ARGV;
my $name = pack_sockaddr_in($port, inet_aton($address));
sub dial {
  socket(my $socket, AF_INET, SOCK_STREAM, 0) or die "socket: $!";
  connect($socket, $name) or die "connect: $!";
  setsockopt($socket, 6, 1, 1);
  return $socket;
}
# A zero: no start of a request.
sub ask { my ($socket) = @_; syswrite($socket, "x\0"); sysread($socket, my $got, 2) == 2 or die "ended" }
my $start = time;
if ($what eq "down") {
  my $socket = dial();
  syswrite($socket, "D$count\0");
  my ($got, $all) = (0, 0);
  $all += $got while $got = sysread($socket, my $bytes, 1 << 18);
  die "short: $all" if $all != $count << 20;
  print time - $start;
} elsif ($what eq "connections") {
  for (1 .. $workers) {
    next if fork;
    for (1 .. $count / $workers) { my $socket = dial(); ask($socket); close $socket }
    exit 0;
  }
  my $failed = 0;
  while (wait > 0) { $failed ||= $? }
  die "failed" if $failed;
  print time - $start;
} else {
  my $socket = dial();
  my @times;
  for (1 .. $count) { my $before = time; ask($socket); push @times, time - $before }
  print 1000 * (sort { $a <=> $b } @times)[$count / 2];
}
