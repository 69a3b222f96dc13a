# Load for bench/fs.mjs: a system call is about as fast as in C, and every Debian has perl.
# usage: perl -U load.pl UID DIRECTORY KIND ARGUMENT...   Runs in DIRECTORY. Prints seconds, or for a loop microseconds per call.
use strict;
use warnings;
use Time::HiRes qw(time);
use POSIX ();
use Fcntl;

my ($uid, $directory, $kind, @arguments) = @ARGV;
$( = $) = "$uid $uid";
$< = $> = $uid;
die "cannot become $uid\n" if $> != $uid;
chdir $directory or die "$directory: $!\n";
$ENV{HOME} = '/nonexistent';
$ENV{LC_ALL} = 'C';

# POSIX::open is the bare system call; perl's own open also calls isatty.
my %loops = (
    stat     => sub { my ($n, $path) = @_; for (1 .. $n) { -e $path or die $! } },
    negative => sub { my ($n, $path) = @_; for (1 .. $n) { -e $path and die } },
    open     => sub {
        my ($n, $path) = @_;
        my $data;
        for (1 .. $n) { my $f = POSIX::open($path, O_RDONLY) // die $!; POSIX::read($f, $data, 4096) // die $!; POSIX::close($f) }
    },
    create => sub {
        my ($n, $path) = @_;
        my $data = 'x' x 4096;
        for my $i (1 .. $n) { my $f = POSIX::open("$path-$i", O_WRONLY | O_CREAT | O_EXCL, 0666) // die $!; POSIX::write($f, $data, 4096) // die $!; POSIX::close($f) }
    },
    unlink => sub { my ($n, $path) = @_; for my $i (1 .. $n) { unlink "$path-$i" or die $! } },
    # Names that were never looked up before: each sends a request.
    lookup => sub { my ($n, $path) = @_; for my $i (1 .. $n) { -e "$path-$i" and die } },
);

sub report { printf "%.9f\n", $_[0] }

if (my $loop = $loops{$kind}) {
    my ($n, @rest) = @arguments;
    # Loops without changes run in short batches, of which the fastest counts.
    my $batch = $kind =~ /^(stat|negative|open)$/ && $n > 1000 ? 1000 : $n;
    my $best;
    for (1 .. $n / $batch) {
        my $began = time;
        $loop->($batch, @rest);
        my $each = (time - $began) / $batch * 1e6;
        $best = $each if !defined $best || $each < $best;
    }
    report($best);
}
# Runs a command; the measured time includes no shell.
elsif ($kind eq 'command') {
    my $began = time;
    system(@arguments) == 0 or die "@arguments: $?\n";
    report(time - $began);
}
# Lookups by many processes, each with names of its own: requests per second.
elsif ($kind eq 'lookups') {
    my ($clients, $n, $path) = @arguments;
    my $began = time;
    for my $client (1 .. $clients) {
        next if fork;
        $loops{lookup}->($n, "$path-$client");
        exit 0;
    }
    while (wait != -1) { die "a client failed\n" if $? }
    report($clients * $n / (time - $began));
}
# Measures n requests that no cache answers: the 99th percentile in microseconds.
elsif ($kind eq 'p99') {
    my ($n, $path) = @arguments;
    my @times;
    for my $i (1 .. $n) { my $began = time; -e "$path-$i" and die; push @times, time - $began; select undef, undef, undef, 0.002 }
    report((sort { $a <=> $b } @times)[int($n * 0.99)] * 1e6);
}
# Runs stat, create and readdir in many processes until killed.
elsif ($kind eq 'flood') {
    my ($clients) = @arguments;
    $SIG{TERM} = sub { kill 'KILL', -$$; exit 0 };
    setpgrp(0, 0);
    for my $client (1 .. $clients) {
        next if fork;
        for (my $i = 0; ; $i++) {
            if ($client % 3 == 0) { my $x = -e "absent-$client-$i" }
            elsif ($client % 3 == 1) { sysopen(my $f, "flood-$client-$i", O_WRONLY | O_CREAT); syswrite($f, 'x'); close $f; unlink "flood-$client-$i" }
            else { opendir(my $d, "many"); my @all = readdir $d; closedir $d }
        }
    }
    1 while wait != -1;
}
else { die "unknown load $kind\n" }
