// Size: the text of a part of a program in another language.

/** Numbers of the system calls of `fewMountsProgram`. */
export interface MountCalls {
  close: number;
  mount: number;
  prctl: number;
  setns: number;
  umount: number;
  unshare: number;
}

/**
 * Part of the spawner's program: a mount namespace for bwrap with only the mounts that the sandbox is made of. The kernel copies
 * each mount of the namespace in which bwrap starts, and bwrap sets the options of each again, those of other servers included.
 *
 * The spawner has a descriptor of it alone (`$few`). The spawner itself and the waiting processes stay in the namespace of the host;
 * a process enters the other one after its cgroups and just before it loses its privileges. It contains the mounts at, above
 * and below the paths that a launch names, so each of these paths is the same directory tree in both. Of a path with symbolic links
 * that is not sure, so then there is no such namespace; nor is there one where the kernel refuses it, or bwrap does not run in it.
 * Then the launch goes on in that of the host.
 *
 * It is a slave of the host's: what the host unmounts it loses, where the host's mounts are shared. Where they are not, the table of
 * the host's mounts tells each change: it is looked at before each launch, and within a second otherwise. A change of a line that
 * matters drops the namespace, so that a launch finds what the host has, and that no file system is kept which the host has
 * unmounted. A process of its own makes the next one.
 */
export function fewMountsProgram({ close, mount, prctl, setns, umount, unshare }: MountCalls): string {
  return `
# $named: the paths, as the last launch named them; $kept: those, and the lines of the host's table for which $few was made, is being
# made, or could not be. $changed_at: when the table changed, if that has not been looked at. %maker: the process that makes it, as
# long as it does.
my ($mounts, $few, $named, $kept, $changed_at, %maker) = (undef, undef, "-", "", 0);
sysopen($mounts, "/proc/self/mountinfo", O_RDONLY) or undef $mounts;

sub octets { return $_[0] =~ s/%([0-9A-F]{2})/chr hex $1/ger }

sub is_at_or_below { return $_[0] eq $_[1] || index($_[0], $_[1] eq "/" ? "/" : "$_[1]/") == 0 }

sub mount_lines {
  my ($handle) = @_;
  my $text = "";
  sysseek($handle, 0, 0) or return;
  1 while sysread($handle, $text, 65536, length $text);
  return split(/\\n/, $text);
}

sub mount_point { return (split(/ /, $_[0]))[4] =~ s/\\\\([0-7]{3})/chr oct $1/ger }

sub is_needed {
  my ($point, @paths) = @_;
  return grep { is_at_or_below($point, $_) || is_at_or_below($_, $point) } @paths;
}

# Device, directory in its file system, and mount point: what is the same of a mount and its copy.
sub copies { return join("\\n", map { join(" ", (split(/ /, $_))[2 .. 4]) } @_) }

# Whether the mounts of the host have changed since the last call.
sub is_changed {
  my $changed = "";
  vec($changed, fileno($mounts), 1) = 1;
  return select(undef, undef, $changed, 0) > 0;
}

sub end_maker {
  kill("KILL", $maker{pid}) if %maker;
  close($_) for grep { $_ } @maker{qw(hold output)};
  %maker = ();
}

sub needed_lines {
  my (undef, @paths) = split(/\\0/, octets($named));
  return join("\\n", $named, grep { is_needed(mount_point($_), @paths) } mount_lines($mounts));
}

# Drops the namespace if it is not what the paths need now.
sub check_few {
  $changed_at = 0;
  return if $kept eq "" || needed_lines() eq $kept;
  end_maker();
  close($few) if $few;
  ($few, $kept) = (undef, "");
}

# In a process of its own; returns whether this is the namespace.
sub leave_mounts {
  my ($program, @paths) = @_;
  my %is_point = map { mount_point($_) => 1 } mount_lines($mounts);
  for my $path (@paths) {
    my $part = "";
    for my $name (grep { length } split(/\\//, $path)) {
      $part .= "/$name";
      # A mount point is no link, and its file system may hang.
      return 0 if !$is_point{$part} && -l $part;
    }
  }
  my ($none, $root) = ("none", "/");
  syscall(${unshare}, 0x20000) == 0 or return 0;
  # MS_REC | MS_SLAVE: from here on nothing reaches the host.
  syscall(${mount}, $none, $root, 0, 0x84000, 0) == 0 or return 0;
  sysopen(my $own, "/proc/self/mountinfo", O_RDONLY) or return 0;
  my @before = mount_lines($own);
  my @needed = grep { is_needed(mount_point($_), @paths) } @before;
  my (%others, $last);
  $others{mount_point($_)}++ for grep { !is_needed(mount_point($_), @paths) } @before;
  # A directory comes before what is in it, which goes with it: so no file system is looked into that is left out.
  for my $point (sort { $a =~ tr/\\//\\0/r cmp $b =~ tr/\\//\\0/r } keys %others) {
    next if defined $last && is_at_or_below($point, $last);
    $last = $point;
    syscall(${umount}, $point, 2) for 1 .. $others{$point};
  }
  my @after = mount_lines($own);
  return 0 if @after >= @before || copies(grep { is_needed(mount_point($_), @paths) } @after) ne copies(@needed);
  close($own);
  my $pid = fork();
  return 0 unless defined $pid;
  if ($pid == 0) {
    open(STDIN, "<", "/dev/null");
    open(STDOUT, ">", "/dev/null");
    open(STDERR, ">", "/dev/null");
    exec({ $program } $program, "--version") or exit 1;
  }
  return waitpid($pid, 0) == $pid && $? == 0;
}

# Begins to make it if none is there; the process says "y" once it is in it, and ends with its input.
sub make_few {
  return if $named eq "-" || $kept ne "" || !$mounts;
  $kept = needed_lines();
  my ($input, $hold, $output, $say);
  pipe($input, $hold) && pipe($output, $say) or return;
  my $pid = fork();
  return unless defined $pid;
  if ($pid == 0) {
    syscall(${prctl}, 1, 9, 0, 0, 0);
    exit 1 if getppid() != $self;
    close($_) for ($hold, $output);
    leave_mounts(split(/\\0/, octets($named))) or exit 1;
    syswrite($say, "y");
    sysread($input, my $end, 1);
    exit 0;
  }
  %maker = (pid => $pid, hold => $hold, output => $output);
}

sub finish_few {
  if (sysread($maker{output}, my $answer, 1)) { sysopen($few, "/proc/$maker{pid}/ns/mnt", O_RDONLY) or undef $few }
  end_maker();
}

# What a process opens to enter it; "-" for none. The one that was made for other paths is not used.
sub few_for {
  my ($needed) = @_;
  return "-" if $needed eq "-" || !$mounts;
  my $is_new = $needed ne $named;
  $named = $needed;
  check_few() if $is_new || $changed_at || is_changed();
  return $few ? "/proc/$self/fd/" . fileno($few) : "-";
}

# If it fails, or the descriptor is another file by now, the process stays where it is.
sub enter_few {
  my $namespace = open_file($_[0], O_RDONLY);
  return if $namespace < 0;
  syscall(${setns}, $namespace, 0x20000);
  syscall(${close}, $namespace);
}
`;
}
