import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLog } from '../../../lib/log.ts';
import type { FileSystem } from '../../../lib/metadata/durable-file.ts';
import { loadMetadata } from '../../../lib/metadata/load.ts';
import type { CodebaseRecord, Metadata } from '../../../lib/metadata/metadata.ts';
import { openMetadata } from '../../../lib/metadata/store.ts';

const codebase = (id: string, name = 'a'): CodebaseRecord => ({
  id,
  name,
  owner_id: 'ann',
  created_at: 1,
  file_count: 0,
  total_size: 0,
  status_reason: '',
});

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await fs.mkdtemp(join(tmpdir(), 'paddock-metadata-'));
  path = join(folder, 'db.json');
});

afterEach(async () => {
  for (const each of opened.splice(0)) await each.close();
  await fs.rm(folder, { recursive: true });
});

const opened: Metadata[] = [];

/** One server at a time uses the files. */
async function open(fileSystem?: FileSystem): Promise<Metadata> {
  for (const each of opened.splice(0)) await each.close();
  const metadata = await openMetadata(path, silentLog, { fileSystem: fileSystem ?? fs, leastBytes: 4096 });
  opened.push(metadata);
  return metadata;
}

/** What a server would find that was started now. */
async function stored() {
  return (await loadMetadata(path, fs))!.state;
}

/** Counts the calls of all operations from 1; `fail` selects the calls that end with an error. */
function faulty(
  fail: (call: number, operation: string) => boolean,
  code = 'EIO',
): FileSystem & { calls: () => number } {
  let call = 0;
  const check = (operation: string) => {
    call++;
    if (fail(call, operation)) throw Object.assign(new Error(code), { code });
  };
  const wrap = <A extends unknown[], R>(name: string, run: (...args: A) => Promise<R>) => {
    return async (...args: A): Promise<R> => {
      check(name);
      return run(...args);
    };
  };
  return {
    link: wrap('link', fs.link),
    rename: wrap('rename', fs.rename),
    rm: wrap('rm', fs.rm),
    readdir: fs.readdir,
    readFile: fs.readFile,
    open: (async (file: string, flags: string, mode?: number) => {
      check('open');
      const handle = await fs.open(file, flags, mode);
      return new Proxy(handle, {
        get(target, name) {
          const value = Reflect.get(target, name) as unknown;
          if (!['sync', 'datasync', 'writeFile', 'truncate'].includes(String(name)))
            return typeof value === 'function' ? value.bind(target) : value;
          return wrap(String(name), (value as () => Promise<void>).bind(target));
        },
      });
    }) as typeof fs.open,
    calls: () => call,
  };
}

describe('metadata', () => {
  it('is empty and fresh without a file, and not fresh afterwards', async () => {
    const first = await open();
    expect([first.fresh, first.codebases.size]).toEqual([true, 0]);
    await first.close();
    expect((await open()).fresh).toBe(false);
  });

  it('has the keys after it is opened again', async () => {
    const metadata = await open();
    await metadata.codebases.put(codebase('cb_1'));
    const rights = { name: 'k', role: 'owner', owner_id: 'ann', sandbox_id: '', scopes: ['exec'], created_by: '' };
    const key = { id: '7f3a9c2e', ...rights, created_at: 1, expires_at: 0, last_used_at: 0, mask: '', sha256: '00' };
    await metadata.keys.put(key);
    const again = await open();
    expect([...again.keys.values(), ...again.codebases.values()]).toEqual([key, codebase('cb_1')]);
  });

  it('has every acknowledged change after it is opened again', async () => {
    const metadata = await open();
    await Promise.all([metadata.codebases.put(codebase('cb_1')), metadata.codebases.put(codebase('cb_2'))]);
    await metadata.codebases.put(codebase('cb_1', 'b'));
    await metadata.codebases.remove('cb_2');
    const again = await open();
    expect([...again.codebases.values()]).toEqual([codebase('cb_1', 'b')]);
  });

  it('stores keys like __proto__ as plain data', async () => {
    const metadata = await open();
    expect(metadata.codebases.get('__proto__')).toBeUndefined();
    expect(metadata.codebases.get('constructor')).toBeUndefined();
    const named = JSON.parse('{"__proto__":"x","2":"b","1":"a"}') as object;
    await metadata.codebases.put({ ...codebase('__proto__'), ...{ labels: named } });
    const again = await open();
    expect(JSON.stringify(again.codebases.get('__proto__'))).toContain('{"1":"a","2":"b","__proto__":"x"}');
  });

  it('shows a change at once, before it is durable', async () => {
    const metadata = await open();
    const stored = metadata.codebases.put(codebase('cb_1'));
    expect(metadata.codebases.get('cb_1')).toEqual(codebase('cb_1'));
    await stored;
  });

  it('writes files that only their owner can access, and leaves no others', async () => {
    const metadata = await open();
    await metadata.codebases.put(codebase('cb_1'));
    expect((await fs.readdir(folder)).sort()).toEqual(['db.json', 'db.json.log.1']);
    for (const name of await fs.readdir(folder)) expect((await fs.stat(join(folder, name))).mode & 0o777).toBe(0o600);
  });

  it('writes as much for a change, however many records there are', async () => {
    const metadata = await open();
    const sizeOf = async () => (await fs.stat(`${path}.log.1`)).size;
    const costOf = async (record: CodebaseRecord) => {
      const before = await sizeOf();
      await metadata.codebases.put(record);
      return (await sizeOf()) - before;
    };
    const one = await costOf(codebase('cb_0000'));
    await Promise.all(Array.from({ length: 10 }, (_, n) => metadata.codebases.put(codebase(`cb_${1000 + n}`))));
    expect(Math.abs((await costOf(codebase('cb_9999'))) - one)).toBeLessThan(4);
  });

  it('combines many concurrent changes into few writes', async () => {
    const disk = faulty(() => false);
    const metadata = await open(disk);
    const before = disk.calls();
    await metadata.codebases.put(codebase('cb_0'));
    const one = disk.calls() - before;
    await Promise.all(Array.from({ length: 1000 }, (_, n) => metadata.codebases.put(codebase(`cb_${n}`))));
    expect(disk.calls() - before).toBeLessThanOrEqual(3 * one);
    expect((await open()).codebases.size).toBe(1000);
  });

  it('refuses changes after close, and acknowledges earlier ones', async () => {
    const metadata = await open();
    const stored = metadata.codebases.put(codebase('cb_1'));
    await metadata.close();
    await expect(stored).resolves.toBeUndefined();
    await expect(metadata.codebases.put(codebase('cb_2'))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });

  it('neither follows nor overwrites an entry at the path of its temporary file', async () => {
    const victim = join(folder, 'victim');
    await fs.writeFile(victim, 'precious');
    await fs.symlink(victim, join(folder, '.db.json.tmp'));
    const metadata = await open();
    await metadata.codebases.put(codebase('cb_1'));
    expect(await fs.readFile(victim, 'utf8')).toBe('precious');
  });
});

describe('a disk that fails at the Nth operation', () => {
  it('never loses an acknowledged change, and never acknowledges a lost one', async () => {
    const healthy = faulty(() => false);
    await (await open(healthy)).codebases.put(codebase('cb_probe'));
    const operations = healthy.calls();
    for (let failing = 1; failing <= operations + 1; failing++) {
      for (const name of await fs.readdir(folder)) await fs.rm(join(folder, name));
      let armedFrom = Number.POSITIVE_INFINITY;
      const disk = faulty((call) => call === armedFrom + failing);
      const metadata = await open(disk);
      await metadata.codebases.put(codebase('cb_1'));
      armedFrom = disk.calls();
      const second = await metadata.codebases.put(codebase('cb_2')).then(
        () => true,
        (error: unknown) => {
          expect(error).toMatchObject({ code: 'UNAVAILABLE' });
          return false;
        },
      );
      armedFrom = Number.POSITIVE_INFINITY;
      expect(metadata.codebases.get('cb_2') !== undefined, `memory, failing at ${failing}`).toBe(second);
      const onDisk = await stored();
      expect(onDisk.codebases.get('cb_1'), `failing at ${failing}`).toBeDefined();
      if (second) expect(onDisk.codebases.get('cb_2'), `failing at ${failing}`).toBeDefined();
      await metadata.codebases.put(codebase('cb_3'));
      const ids = [...(await stored()).codebases.values()].map(({ id }) => id);
      expect(ids, `failing at ${failing}`).toEqual(second ? ['cb_1', 'cb_2', 'cb_3'] : ['cb_1', 'cb_3']);
    }
  });

  it('reverts the changes made during the failed write, and only unacknowledged ones', async () => {
    let broken = false;
    const metadata = await open(faulty((_, operation) => broken && operation === 'datasync'));
    await metadata.codebases.put(codebase('cb_1'));
    broken = true;
    const outcomes = [
      metadata.codebases.put(codebase('cb_1', 'renamed')),
      metadata.codebases.put(codebase('cb_2')),
      metadata.codebases.remove('cb_1'),
    ];
    await Promise.all(outcomes.map((outcome) => expect(outcome).rejects.toMatchObject({ code: 'UNAVAILABLE' })));
    expect([...metadata.codebases.values()]).toEqual([codebase('cb_1')]);
  });

  it.each([
    ['ENOSPC', ': the disk of the metadata (storage.db_path) is full'],
    ['EROFS', ': the disk of the metadata (storage.db_path) is read-only'],
    ['EIO', ': the disk of the metadata (storage.db_path) fails'],
    ['EBADF', ''],
  ])('names %s in the error', async (code, why) => {
    let broken = false;
    const metadata = await open(faulty((_, operation) => broken && operation === 'writeFile', code));
    broken = true;
    await expect(metadata.codebases.put(codebase('cb_1'))).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: `the change could not be stored${why}; nothing was changed`,
    });
  });

  it('resolves on close the uncertain result of a failed write', async () => {
    let broken = false;
    const metadata = await open(faulty((_, operation) => broken && ['datasync', 'truncate'].includes(operation)));
    broken = true;
    // All of the change may be on the disk already.
    await expect(metadata.codebases.put(codebase('cb_1'))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(await fs.readFile(`${path}.log.1`, 'utf8')).toContain('cb_1');
    broken = false;
    await metadata.close();
    expect((await open()).codebases.size).toBe(0);
  });

  it('leaves nothing of a refused change to a server that starts after a kill -9', async () => {
    let broken = false;
    const metadata = await open(faulty((_, operation) => broken && operation === 'datasync'));
    await metadata.codebases.put(codebase('cb_1'));
    broken = true;
    await expect(metadata.codebases.put(codebase('cb_2'))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await expect(metadata.codebases.remove('cb_1')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect([...(await stored()).codebases.keys()]).toEqual(['cb_1']);
    broken = false;
  });

  it('starts on a full disk, refuses changes, and stores them when there is room', async () => {
    await (await open()).codebases.put(codebase('cb_1'));
    let full = true;
    const metadata = await open(faulty((_, operation) => full && operation === 'writeFile', 'ENOSPC'));
    expect(metadata.codebases.get('cb_1')).toBeDefined();
    for (const attempt of [1, 2]) {
      await expect(metadata.codebases.remove('cb_1'), `${attempt}`).rejects.toThrow(/is full/);
    }
    full = false;
    await metadata.codebases.remove('cb_1');
    expect((await open()).codebases.size).toBe(0);
    expect((await fs.readdir(folder)).length).toBeLessThan(6);
  });
});

/** Makes snapshots until there is a backup. */
async function compacted(metadata: Metadata): Promise<void> {
  const name = 'n'.repeat(1024);
  for (let n = 0; (await fs.readdir(folder)).every((each) => !each.endsWith('.bak')); n++) {
    await metadata.codebases.put(codebase('cb_large', `${n}${name}`));
  }
  await metadata.codebases.remove('cb_large');
}

async function refusal(): Promise<string | undefined> {
  return open().then(
    () => undefined,
    (thrown: Error) => thrown.message,
  );
}

describe('a damaged snapshot', () => {
  const damages: [string, (whole: Buffer) => Buffer | string][] = [
    ['empty', () => ''],
    ['white space', () => ' \n'],
    ['zeros', (whole) => Buffer.alloc(whole.length)],
    ['cut in half', (whole) => whole.subarray(0, whole.length / 2)],
    ['without its last two bytes', (whole) => whole.subarray(0, -2)],
    ['without its last line', (whole) => whole.subarray(0, whole.lastIndexOf('\n', -2) + 1)],
    ['with one bit flipped in a value', (whole) => whole.toString().replace('"ann"', '"aon"')],
    ['of another version', (whole) => whole.toString().replace('"version":2', '"version":9')],
    ['of no version', () => '{"state":{"codebases":[],"sandboxes":[]}}'],
    ['of no log', (whole) => whole.toString().replace('"log":', '"lag":')],
    ['with a record that is null', () => '{"version":1,"state":{"codebases":[null],"sandboxes":[]}}'],
    ['with a record of an unknown kind', (whole) => whole.toString().replace('["codebases"', '["unknown"')],
    ['without the list of sandboxes', () => '{"version":1,"state":{"codebases":[]}}'],
    ['JSON of something else', () => '[1,2]'],
    ['null', () => 'null'],
    ['followed by more data', (whole) => `${whole}${whole}`],
    ['of an older server, beside a log', () => '{"version":1,"state":{"codebases":[],"sandboxes":[]}}'],
  ];

  it.each(damages)('%s: is refused with one line that names it and the backup, and is kept', async (_, damage) => {
    const metadata = await open();
    await metadata.codebases.put(codebase('cb_1'));
    await compacted(metadata);
    await metadata.close();
    const damaged = Buffer.from(damage(await fs.readFile(path)));
    await fs.writeFile(path, damaged);
    const error = await refusal();
    expect(error).toMatch(/^storage\.db_path: [^\n]+$/);
    expect(error).toContain(path);
    expect(error).toContain(`${path}.bak`);
    expect(await fs.readFile(path)).toEqual(damaged);
  });

  it('is refused if it is a directory', async () => {
    await fs.mkdir(path);
    await expect(open()).rejects.toThrow(/^storage\.db_path: .*EISDIR/);
  });

  it('is refused if it is missing, and not treated as a new state', async () => {
    await (await open()).codebases.put(codebase('cb_1'));
    await fs.rm(path);
    expect(await refusal()).toContain(`${path} is missing`);
  });

  it('is replaced by its backup, which has the same records with the log', async () => {
    const metadata = await open();
    await metadata.codebases.put(codebase('cb_1'));
    await compacted(metadata);
    await metadata.codebases.put(codebase('cb_2'));
    await metadata.close();
    await fs.rename(`${path}.bak`, path);
    expect([...(await open()).codebases.values()]).toEqual([codebase('cb_1'), codebase('cb_2')]);
  });

  it('is read after a manual repair that removes its checksum', async () => {
    const metadata = await open();
    await metadata.codebases.put(codebase('cb_1'));
    await compacted(metadata);
    await metadata.close();
    const text = await fs.readFile(path, 'utf8');
    await fs.writeFile(path, text.replace(/,"sha256":"\w+"/, '').replace('"ann"', '"bob"'));
    expect((await open()).codebases.get('cb_1')?.owner_id).toBe('bob');
  });
});

describe('a damaged log', () => {
  const log = () => `${path}.log.1`;
  /** Three changes, and the offset of the second. */
  async function threeChanges(): Promise<{ whole: Buffer; offsets: number[] }> {
    const metadata = await open();
    for (const id of ['cb_1', 'cb_2', 'cb_3']) await metadata.codebases.put(codebase(id));
    const whole = await fs.readFile(log());
    const offsets = [...whole.toString('latin1').matchAll(/\n/g)].map(({ index }) => index + 1);
    return { whole, offsets };
  }
  const ids = async () => [...(await open()).codebases.values()].map(({ id }) => id);

  it('with any flipped byte is refused with the file and the offset of the change, and is kept', async () => {
    const { whole, offsets } = await threeChanges();
    for (let at = 0; at < whole.length; at += at < offsets[0]! || whole.length - at < 3 ? 1 : 9) {
      const damaged = Buffer.from(whole);
      damaged[at]! ^= 1;
      await fs.writeFile(log(), damaged);
      const start = [0, ...offsets].findLast((each) => each <= at)!;
      const error = await refusal();
      expect(error, `byte ${at}`).toContain(`storage.db_path: ${log()} is damaged at byte ${start};`);
      expect(await fs.readFile(log())).toEqual(damaged);
    }
  });

  it('cut anywhere in its last change has the changes before, and goes on', async () => {
    const { whole, offsets } = await threeChanges();
    for (let end = offsets[2]!; end < whole.length; end += 7) {
      for (const name of await fs.readdir(folder)) if (name.startsWith('db.json.log.')) await fs.rm(join(folder, name));
      await fs.writeFile(log(), whole.subarray(0, end));
      const metadata = await open();
      expect([...metadata.codebases.values()].map(({ id }) => id)).toEqual(['cb_1', 'cb_2']);
      await metadata.codebases.put(codebase('cb_4'));
      await metadata.close();
      expect(await ids()).toEqual(['cb_1', 'cb_2', 'cb_4']);
    }
  });

  it.each([
    ['zeros after its last change', (whole: Buffer) => Buffer.concat([whole, Buffer.alloc(300)]), 3],
    ['zeros for its last change', (whole: Buffer, last: number) => Buffer.from(whole).fill(0, last), 2],
    ['zeros in its last change', (whole: Buffer, last: number) => Buffer.from(whole).fill(0, last + 9, last + 20), 2],
  ] as const)('with %s, as of a power failure, has the others', async (_, damage, left) => {
    const { whole, offsets } = await threeChanges();
    await fs.writeFile(log(), damage(whole, offsets[2]!));
    expect(await ids()).toHaveLength(left);
  });

  it('with garbage after its last change is refused', async () => {
    const { whole } = await threeChanges();
    await fs.writeFile(log(), `${whole}garbage\nmore garbage`);
    expect(await refusal()).toContain(`${log()} is damaged at byte ${whole.length}`);
  });

  it('without one of its segments is refused', async () => {
    await threeChanges();
    for (let n = 0; n < 2; n++) {
      const metadata = await open();
      await metadata.codebases.put(codebase(`cb_more${n}`));
      await metadata.close();
    }
    for (const missing of [1, 2]) {
      await fs.rename(`${path}.log.${missing}`, join(folder, 'away'));
      expect(await refusal()).toContain(`${path}.log.${missing} is missing`);
      await fs.rename(join(folder, 'away'), `${path}.log.${missing}`);
    }
    const whole = await fs.readFile(`${path}.log.2`);
    await fs.writeFile(`${path}.log.2`, whole.subarray(0, whole.indexOf('\n') + 1));
    expect(await refusal()).toContain(`${path}.log.2 ends after change 3 at byte `);
  });
});

describe('the file of an older server', () => {
  it('of commit 9a21782 is read and converted, with the same records', async () => {
    const archive = new URL('../../fixtures/state-9a21782.tar.gz', import.meta.url).pathname;
    const text = execFileSync('tar', ['-xzOf', archive, './metadata.json'], { encoding: 'utf8' });
    await fs.writeFile(path, text);
    for (let starts = 0; starts < 2; starts++) {
      const metadata = await open();
      const { codebases, sandboxes } = (JSON.parse(text) as { state: Record<string, unknown[]> }).state;
      expect([[...metadata.codebases.values()], [...metadata.sandboxes.values()]]).toEqual([codebases, sandboxes]);
      await metadata.close();
    }
  });

  const old = '{"version":1,"state":{"codebases":[{"id":"cb_1","name":"a","owner_id":"ann"}],"sandboxes":[]}}\n';

  it('is read, and replaced with a backup of it', async () => {
    await fs.writeFile(path, old);
    const metadata = await open();
    expect(metadata.fresh).toBe(false);
    await metadata.codebases.put(codebase('cb_2'));
    await metadata.close();
    expect(await fs.readFile(`${path}.bak`, 'utf8')).toBe(old);
    expect([...(await open()).codebases.values()].map(({ id }) => id)).toEqual(['cb_1', 'cb_2']);
  });

  it('is read on a full disk, and replaced by the first change that can be stored', async () => {
    await fs.writeFile(path, old);
    let full = true;
    const metadata = await open(faulty((_, operation) => full && operation === 'writeFile', 'ENOSPC'));
    await expect(metadata.codebases.put(codebase('cb_2'))).rejects.toThrow(/is full/);
    expect(await fs.readFile(path, 'utf8')).toBe(old);
    full = false;
    await metadata.codebases.put(codebase('cb_3'));
    await metadata.codebases.put(codebase('cb_4'));
    expect([...(await open()).codebases.values()].map(({ id }) => id)).toEqual(['cb_1', 'cb_3', 'cb_4']);
  });
});

describe('a compaction', () => {
  /** Ends like a killed process at the Nth operation: no later one takes place. */
  it('that is stopped at any operation leaves every acknowledged change', async () => {
    let total = Number.POSITIVE_INFINITY;
    for (let stop = 1; stop <= total; stop++) {
      for (const name of await fs.readdir(folder)) await fs.rm(join(folder, name));
      let from = Number.POSITIVE_INFINITY;
      const disk = faulty((call) => call > from + stop);
      const metadata = await open(disk);
      const acknowledged = new Map<string, string>();
      // May be found, until a later change is acknowledged.
      const refused = new Map<string, string[]>();
      const put = async (id: string, name: string) => {
        await metadata.codebases.put(codebase(id, name)).then(
          () => acknowledged.set(id, name),
          () => refused.set(id, [...(refused.get(id) ?? []), name]),
        );
      };
      const name = 'n'.repeat(1024);
      await put('cb_large', name);
      from = disk.calls();
      for (let n = 0; n < 6; n++) await Promise.all([put('cb_large', `${n}${name}`), put(`cb_${n}`, 'small')]);
      await put('cb_last', 'small');
      // Closing gives up a compaction that has only begun.
      const isOver = async () => disk.calls() > from + stop || (await fs.readdir(folder)).includes('db.json.bak');
      await expect.poll(isOver, { timeout: 60_000, interval: 1 }).toBe(true);
      await metadata.close();
      const again = await open();
      const found = new Map([...again.codebases.values()].map((each) => [each.id, each.name]));
      for (const [id, value] of acknowledged) {
        const allowed = [value, ...(refused.get(id) ?? [])];
        expect(allowed.includes(found.get(id)!), `${id}, stopped at ${stop}`).toBe(true);
      }
      if (disk.calls() <= from + stop) {
        total = stop;
        expect(await fs.readdir(folder)).toContain('db.json.bak');
        expect([...found]).toEqual([...acknowledged]);
      }
      await again.close();
    }
  });

  it('ends while changes are made without a pause', async () => {
    const metadata = await open();
    const name = 'n'.repeat(1024);
    let isDone = false;
    const work = async (worker: number) => {
      for (let n = 0; !isDone; n++) await metadata.codebases.put(codebase(`cb_${worker}`, `${n}${name}`));
    };
    const works = Array.from({ length: 5 }, async (_, worker) => {
      // Each is added while another one is written.
      for (let turns = 0; turns < worker * 3; turns++) await fs.stat(folder);
      await work(worker);
    });
    await expect.poll(() => fs.readdir(folder), { timeout: 60_000 }).toContain('db.json.bak');
    isDone = true;
    await Promise.all(works);
  });

  it('keeps the log since the backup, and no older one', async () => {
    const metadata = await open();
    const name = 'n'.repeat(1024);
    for (let n = 0; n < 20; n++) await metadata.codebases.put(codebase('cb_1', `${n}${name}`));
    await metadata.close();
    const logs = (await fs.readdir(folder)).filter((each) => each.startsWith('db.json.log.'));
    expect(logs.length).toBeLessThanOrEqual(3);
    expect((await open()).codebases.get('cb_1')?.name).toBe(`19${name}`);
    await fs.rename(`${path}.bak`, path);
    expect((await open()).codebases.get('cb_1')?.name).toBe(`19${name}`);
  });
});
