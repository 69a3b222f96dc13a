/** Numbers of memory.stat of a cgroup by name, in bytes. On v1 those of the whole tree, without `total_`. */
export type MemoryStat = ReadonlyMap<string, number>;

/** Digits of each number, so that a text replaces an older one of the same length. */
const WIDTH = 12;

/**
 * Text of /proc/meminfo for a sandbox that may use `total` bytes and uses `used`. All that its cgroup does not count is 0. The
 * names of v2 come first: https://docs.kernel.org/admin-guide/cgroup-v2.html
 */
export function meminfo(total: number, used: number, stat: MemoryStat): string {
  const of = (...names: string[]) => stat.get(names.find((name) => stat.has(name)) ?? '') ?? 0;
  const free = Math.max(0, total - used);
  const [inactiveFile, activeFile] = [of('inactive_file'), of('active_file')];
  const [inactiveAnon, activeAnon] = [of('inactive_anon'), of('active_anon')];
  const reclaimable = of('slab_reclaimable');
  const fields = {
    MemTotal: total,
    MemFree: free,
    MemAvailable: Math.min(total, free + inactiveFile + activeFile + reclaimable),
    Buffers: 0,
    Cached: of('file', 'cache'),
    SwapCached: 0,
    Active: activeFile + activeAnon,
    Inactive: inactiveFile + inactiveAnon,
    'Active(anon)': activeAnon,
    'Inactive(anon)': inactiveAnon,
    'Active(file)': activeFile,
    'Inactive(file)': inactiveFile,
    Unevictable: of('unevictable'),
    Mlocked: 0,
    SwapTotal: 0,
    SwapFree: 0,
    Dirty: of('file_dirty', 'dirty'),
    Writeback: of('file_writeback', 'writeback'),
    AnonPages: of('anon', 'rss'),
    Mapped: of('file_mapped', 'mapped_file'),
    Shmem: of('shmem'),
    KReclaimable: reclaimable,
    Slab: reclaimable + of('slab_unreclaimable'),
    SReclaimable: reclaimable,
    SUnreclaim: of('slab_unreclaimable'),
    KernelStack: of('kernel_stack'),
    PageTables: of('pagetables'),
    CommitLimit: total,
    Committed_AS: used,
  };
  const kilobytes = (bytes: number) => String(Math.floor(bytes / 1024)).padStart(WIDTH);
  return Object.entries(fields)
    .map(([name, bytes]) => `${`${name}:`.padEnd(16)}${kilobytes(bytes)} kB\n`)
    .join('');
}

/** Parses memory.stat. `version`: on v1 the lines of the cgroup alone are left out. */
export function memoryStat(text: string, version: 1 | 2): MemoryStat {
  const found = new Map<string, number>();
  for (const line of text.split('\n')) {
    const [name = '', value = ''] = line.split(' ');
    if (version === 2) found.set(name, Number(value));
    else if (name.startsWith('total_')) found.set(name.slice('total_'.length), Number(value));
  }
  return found;
}
