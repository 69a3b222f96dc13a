/**
 * Program of the helper process (perl): Node has neither fspick(2) (433) nor fsconfig(2) (431), and mount(8) reaches only
 * its own mount namespace. It answers each line on its standard input, the host pid of a sandbox's first process, by one line:
 * `ok`; `gone` if the process has ended; else `no` and the reason. It answers 0 by whether the calls are possible.
 *
 * It sets `max` of the file system at /dev/pts, and names its other options again, because options that a reconfiguration
 * does not name get their defaults. The host's own /dev/pts, seen if the pid was used again, is never changed. It inherits
 * nothing but its pipes (close_range(2) is 436), and ends with them.
 */
export const devptsProgram = (max: number): string => `
use Fcntl qw(O_DIRECTORY O_NOFOLLOW);
use Errno qw(ENOENT ESRCH EINVAL);
syscall(436, 3, 0xffffffff, 0);
$| = 1;
my ($name, $max) = ("max", "${max}");
my $empty = "";
my @host = stat("/dev/pts");

sub available {
  my $path = "/proc";
  return syscall(433, -100, $path, 1) >= 0 || $! == EINVAL ? "ok" : "no $!";
}

sub limit {
  my ($pid) = @_;
  my $mounts;
  unless (open($mounts, "<", "/proc/$pid/mountinfo")) {
    return $! == ENOENT || $! == ESRCH || $! == EINVAL ? "gone" : "no $!";
  }
  my $options;
  while (my $line = <$mounts>) { $options = $1 if $line =~ m{^\\S+ \\S+ \\S+ / /dev/pts .* - devpts \\S+ (\\S+)$} }
  return -e "/proc/$pid/root" ? "no devpts" : "gone" unless defined $options;
  sysopen(my $directory, "/proc/$pid/root/dev/pts", 0x200000 | O_DIRECTORY | O_NOFOLLOW)
    or return $! == ENOENT || $! == ESRCH ? "gone" : "no $!";
  return "no, it is the host's" if !@host || (stat($directory))[0] == $host[0];
  my $fd = syscall(433, fileno($directory), $empty, 9);
  return "no $!" if $fd < 0;
  open(my $context, "<&=", $fd) or return "no $!";
  for my $option (grep { /=/ && !/^max=/ } split(/,/, $options)) {
    my ($key, $value) = map { "$_" } split(/=/, $option, 2);
    syscall(431, $fd, 1, $key, $value, 0) == 0 or return "no $!";
  }
  syscall(431, $fd, 1, $name, $max, 0) == 0 or return "no $!";
  return syscall(431, $fd, 7, 0, 0, 0) == 0 ? "ok" : "no $!";
}

my $pid = "";
while (sysread(STDIN, my $byte, 1)) {
  if ($byte ne "\\n") { length($pid .= $byte) <= 10 or exit 1; next }
  $pid =~ /^[0-9]+$/ or exit 1;
  print $pid eq "0" ? available() : limit($pid), "\\n";
  $pid = "";
}
`;
