// Size: the text of one program in another language.

/** Numbers of the system calls that Perl has no functions for: setns(2), sendmsg(2), prctl(2). */
const SYSTEM_CALLS: Partial<Record<NodeJS.Architecture, { setns: number; sendmsg: number; prctl: number }>> = {
  x64: { setns: 308, sendmsg: 46, prctl: 157 },
  arm64: { setns: 268, sendmsg: 211, prctl: 167 },
};

/** Most seconds of one request, in its process. */
const REQUEST_SECONDS = 5;
/** Seconds for one of the two addresses that `connect` tries. */
const CONNECT_SECONDS = 2;
/**
 * An address of `lo` beside loopback, which stands for no name: without one, programs that ask for names with AI_ADDRCONFIG
 * (as getaddrinfo(3) does without hints) get no IPv4 address.
 */
export const OWN_ADDRESS = '198.19.255.254';
/** Connections that wait to be accepted. */
const BACKLOG = 1024;

/**
 * Program of the socket maker (perl): Node can neither enter a network namespace nor pass descriptors. It reads requests from
 * an IPC channel of Node on descriptor 3, one JSON string a line, and ends with the channel:
 *
 *     ID open PID =START +PREFIX… tADDRESS PORT… uADDRESS PORT…     words separated by blanks, address and port by a slash
 *     ID routes PID =START +PREFIX… -PREFIX…
 *     ID connect PID PORT
 *
 * It answers with sockets, in the messages of Node's own handle passing, and then `{"id": ID, "errno": 0, "at": ""}`. All or
 * nothing: on a failure no socket was passed and no route is left. An errno of -1: the process has ended, or is not the one that began at START (optional), -2: it is in no
 * sandbox.
 *
 * Each request has a process of its own, so that this one never leaves the network of the host, and that a request which waits
 * or dies (a sandbox does not accept connections, a signal) takes no other with it. Its process enters the namespace by an open
 * directory of /proc, and ends after the answer: of it nothing is left in the namespace. Where the server is not root of a
 * parent user namespace, it enters the one that owns the network namespace first.
 *
 * It has only Socket and Fcntl, which Debian's perl-base has. It closes what it inherited (close_range(2) is 436).
 * Returns undefined for an architecture whose system calls are not known.
 */
export function socketMakerProgram(architecture: NodeJS.Architecture = process.arch): string | undefined {
  const numbers = SYSTEM_CALLS[architecture];
  if (numbers === undefined) return undefined;
  const { setns, sendmsg, prctl } = numbers;
  return `
use strict;
use Fcntl qw(O_RDONLY O_DIRECTORY);
use Socket qw(:DEFAULT inet_pton pack_sockaddr_in6);
syscall(436, 4, 0xffffffff, 0);
open(my $ipc, "+<&=", 3) or exit 1;
my $parent = $$;
my ($seq, $netlink) = (0);

sub deliver {
  my ($text, $socket) = @_;
  $text .= "\\n";
  my $iov = pack("P Q", $text, length $text);
  my $control = defined $socket ? pack("Q i i i x4", 20, 1, 1, fileno($socket)) : "";
  my $message = pack("Q L x4 P Q P Q i x4", 0, 0, $iov, 1, $control, length $control, 0);
  exit 1 if syscall(${sendmsg}, 3, $message, 0x4000) != length $text;
}

sub answer {
  my ($id, $errno, $at) = @_;
  deliver(qq({"id":$id,"errno":$errno,"at":"$at"}));
}

sub pass {
  my ($id, $type, $index, $socket) = @_;
  deliver(qq({"cmd":"NODE_HANDLE","type":"$type.Native","msg":{"id":$id,"index":$index}}), $socket);
}

sub isOwn {
  my @own = stat("/proc/self/ns/net");
  my @other = stat($_[0]);
  return @own && @other && $own[0] == $other[0] && $own[1] == $other[1];
}

# Returns an errno.
sub enter {
  my ($pid, $start) = @_;
  sysopen(my $process, "/proc/$pid", O_RDONLY | O_DIRECTORY) or return -1;
  my $path = "/proc/self/fd/" . fileno($process);
  open(my $status, "<", "$path/status") or return -1;
  my $lines = join("", <$status>);
  return -1 if $lines eq "" || $lines =~ /^State:\\t[ZX]/m;
  if (defined $start) {
    open(my $stat, "<", "$path/stat") or return -1;
    my $fields = join("", <$stat>);
    $fields =~ s/^.*\\) //s;
    return -1 if (split(" ", $fields))[19] ne $start;
  }
  return -2 unless $lines =~ /^NSpid:\\t\\d+\\t/m;
  return -2 if isOwn("$path/ns/net");
  my $net;
  unless (open($net, "<", "$path/ns/net")) { my $errno = $! + 0; return $errno == 2 || $errno == 3 ? -1 : $errno }
  return 0 if syscall(${setns}, fileno($net), 0x40000000) == 0;
  return $! + 0 if $! != 1;
  my $user = ioctl($net, 0xb701, 0) or return $! + 0;
  return $! + 0 if syscall(${setns}, $user + 0, 0x10000000) != 0;
  return syscall(${setns}, fileno($net), 0x40000000) == 0 ? 0 : $! + 0;
}

# One message of rtnetlink(7); returns an errno.
sub change {
  my ($type, $flags, $body) = @_;
  unless (defined $netlink) { socket($netlink, 16, SOCK_RAW, 0) or return $! + 0 }
  my $message = pack("L S S L L", 16 + length $body, $type, 5 | $flags, ++$seq, 0) . $body;
  defined send($netlink, $message, 0) or return $! + 0;
  defined recv($netlink, my $reply, 8192, 0) or return $! + 0;
  my (undef, undef, undef, undef, undef, $errno) = unpack("L S S L L l", $reply);
  return -$errno;
}

sub addressOf {
  my ($text) = @_;
  my $family = $text =~ /:/ ? AF_INET6 : AF_INET;
  return ($family, inet_pton($family, $text));
}

# A local route: the addresses are this machine's. 17: it exists, 3: it does not.
sub route {
  my ($type, $prefix) = @_;
  my ($text, $length) = split(m{/}, $prefix);
  my ($family, $address) = addressOf($text);
  return 22 unless defined $address;
  my $body = pack("C8 L", $family, $length, 0, 0, 255, 4, $family == AF_INET ? 254 : 0, 2, 0);
  $body .= pack("S S", 4 + length $address, 1) . $address if $length > 0;
  my $errno = change($type, $type == 24 ? 0x600 : 0, $body . pack("S S L", 8, 4, 1));
  return $errno == ($type == 24 ? 17 : 3) ? -1 : $errno;
}

# A socket, or undefined with errno.
sub bound {
  my ($kind, $place) = @_;
  my ($text, $port) = split(m{/}, $place);
  my ($family, $address) = addressOf($text);
  unless (defined $address) { $! = 22; return undef }
  socket(my $socket, $family, ($kind eq "t" ? SOCK_STREAM : SOCK_DGRAM) | 0x800, 0) or return undef;
  if ($kind eq "t") { setsockopt($socket, SOL_SOCKET, SO_REUSEADDR, 1) or return undef }
  if ($family == AF_INET6) { setsockopt($socket, 41, 26, 1) or return undef }
  my $name = $family == AF_INET ? pack_sockaddr_in($port, $address) : pack_sockaddr_in6($port, $address);
  bind($socket, $name) or return undef;
  if ($kind eq "t") { listen($socket, ${BACKLOG}) or return undef }
  return $socket;
}

sub changeRoutes {
  my @undo;
  for my $word (@_) {
    my ($sign, $prefix) = $word =~ /^([-+])(.*)/;
    my $errno = route($sign eq "+" ? 24 : 25, $prefix);
    if ($errno > 0) { undoRoutes(@undo); return ($errno, $word) }
    push @undo, ($sign eq "+" ? 25 : 24, $prefix) if $errno == 0;
  }
  return (0, "", @undo);
}

sub undoRoutes {
  while (@_) { my $prefix = pop; my $type = pop; route($type, $prefix) }
}

sub openAll {
  my ($id, @words) = @_;
  my $errno = change(16, 0, pack("C x S l L L", 0, 0, 1, 1, 1));
  return ($errno, "lo") if $errno > 0;
  my $own = inet_pton(AF_INET, "${OWN_ADDRESS}");
  $errno = change(20, 0x400, pack("C4 L", AF_INET, 32, 0, 0, 1) . pack("S S", 8, 2) . $own . pack("S S", 8, 1) . $own);
  return ($errno, "lo") if $errno > 0 && $errno != 17;
  my ($failed, $at, @undo) = changeRoutes(grep { /^[-+]/ } @words);
  return ($failed, $at) if $failed;
  my @sockets;
  for my $word (grep { /^[tu]/ } @words) {
    my $socket = bound(substr($word, 0, 1), substr($word, 1));
    unless (defined $socket) { $errno = $! + 0; undoRoutes(@undo); return ($errno, $word) }
    push @sockets, [$word =~ /^t/ ? "net" : "dgram", $socket];
  }
  for my $index (0 .. $#sockets) { pass($id, $sockets[$index][0], $index, $sockets[$index][1]) }
  return (0, "");
}

sub connected {
  my ($id, $port) = @_;
  my $errno = 111;
  for my $text ("127.0.0.1", "::1") {
    my ($family, $address) = addressOf($text);
    my $name = $family == AF_INET ? pack_sockaddr_in($port, $address) : pack_sockaddr_in6($port, $address);
    # A sandbox may have no IPv6: then the first refusal counts.
    socket(my $socket, $family, SOCK_STREAM | 0x800, 0) or last;
    my $failure = 0;
    unless (connect($socket, $name)) {
      $failure = $! + 0;
      if ($failure == 115) {
        my $ready = "";
        vec($ready, fileno($socket), 1) = 1;
        my $count = select(undef, $ready, undef, ${CONNECT_SECONDS});
        $failure = $count > 0 ? unpack("i", getsockopt($socket, SOL_SOCKET, SO_ERROR)) : 110;
      }
    }
    if ($failure == 0) { pass($id, "net", 0, $socket); return (0, "") }
    $errno = $failure if $text eq "127.0.0.1" || $failure == 110;
  }
  return ($errno, $port);
}

sub serve {
  my ($id, $what, $pid, @words) = @_;
  syscall(${prctl}, 1, 9, 0, 0, 0);
  exit 1 if getppid() != $parent;
  alarm ${REQUEST_SECONDS};
  my ($start) = map { /^=(.*)/ ? $1 : () } @words;
  @words = grep { !/^=/ } @words;
  my ($errno, $at) = (enter($pid, $start), "");
  if ($errno == 0) {
    ($errno, $at) = openAll($id, @words) if $what eq "open";
    ($errno, $at) = changeRoutes(@words) if $what eq "routes";
    ($errno, $at) = connected($id, @words) if $what eq "connect";
  }
  answer($id, $errno, $at);
  exit 0;
}

my %requests;
my $text = "";
for (;;) {
  while ((my $ended = waitpid(-1, 1)) > 0) {
    my $id = delete $requests{$ended};
    # It died before its answer.
    answer($id, 4, "") if $? != 0 && defined $id;
  }
  my $ready = "";
  vec($ready, 3, 1) = 1;
  next unless select($ready, undef, undef, %requests ? 0.25 : undef) > 0;
  (sysread($ipc, my $part, 65536) // 0) > 0 or exit 0;
  $text .= $part;
  while ($text =~ s/^([^\\n]*)\\n//) {
    # Others are Node's acknowledgements of sockets.
    next unless $1 =~ m{^"([0-9]+) (open|routes|connect) ([0-9]+)([-+=0-9a-fA-F:./ tu]*)"$};
    my @request = ($1, $2, $3, split(" ", $4));
    my $child = fork();
    if (!defined $child) { answer($request[0], $! + 0, ""); next }
    serve(@request) if $child == 0;
    $requests{$child} = $request[0];
  }
  exit 1 if length $text > 1000000;
}
`;
}
