import * as fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLog } from '../../../lib/log.ts';
import type { FileSystem } from '../../../lib/metadata/durable-file.ts';
import type { CodebaseRecord } from '../../../lib/metadata/metadata.ts';
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

afterEach(() => fs.rm(folder, { recursive: true }));

const open = (fileSystem?: FileSystem) => openMetadata(path, silentLog, fileSystem);

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
          if (name !== 'sync' && name !== 'writeFile') return typeof value === 'function' ? value.bind(target) : value;
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

  it('has the keys after it is opened again, and no list of keys in the file without any', async () => {
    const metadata = await open();
    await metadata.codebases.put(codebase('cb_1'));
    expect(await fs.readFile(path, 'utf8')).not.toContain('"keys"');
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

  it('writes a file that only its owner can access, and leaves no other file except the backup', async () => {
    const metadata = await open();
    await metadata.codebases.put(codebase('cb_1'));
    expect((await fs.stat(path)).mode & 0o777).toBe(0o600);
    expect((await fs.readdir(folder)).sort()).toEqual(['db.json', 'db.json.bak']);
  });

  it('leaves no other file after a crash between its two renames', async () => {
    const metadata = await open();
    await metadata.codebases.put(codebase('cb_1'));
    await metadata.close();
    // The state after the crash: the backup is the present content.
    await fs.rm(`${path}.bak`);
    await fs.link(path, `${path}.bak`);
    await (await open()).close();
    expect((await fs.readdir(folder)).sort()).toEqual(['db.json', 'db.json.bak']);
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
      await fs.rm(path, { force: true });
      await fs.rm(`${path}.bak`, { force: true });
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
      const onDisk = await open();
      expect(onDisk.codebases.get('cb_1'), `failing at ${failing}`).toBeDefined();
      if (second) expect(onDisk.codebases.get('cb_2'), `failing at ${failing}`).toBeDefined();
      await metadata.codebases.put(codebase('cb_3'));
      const ids = [...(await open()).codebases.values()].map(({ id }) => id);
      expect(ids, `failing at ${failing}`).toEqual(second ? ['cb_1', 'cb_2', 'cb_3'] : ['cb_1', 'cb_3']);
    }
  });

  it('reverts the changes made during the failed write, and only unacknowledged ones', async () => {
    let broken = false;
    const metadata = await open(faulty((_, operation) => broken && operation === 'sync'));
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
    let syncs = 0;
    const disk = faulty((_, operation) => broken && operation === 'sync' && ++syncs === 2);
    const metadata = await open(disk);
    broken = true;
    // The second sync is that of the directory: the new content already has its name.
    await expect(metadata.codebases.put(codebase('cb_1'))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    broken = false;
    await metadata.close();
    expect((await open()).codebases.size).toBe(0);
  });
});

describe('a damaged metadata file', () => {
  const damages: [string, (whole: Buffer) => Buffer | string][] = [
    ['empty', () => ''],
    ['white space', () => ' \n'],
    ['zeros', (whole) => Buffer.alloc(whole.length)],
    ['cut in half', (whole) => whole.subarray(0, whole.length / 2)],
    ['without its last two bytes', (whole) => whole.subarray(0, -2)],
    ['with one bit flipped in a value', (whole) => whole.toString().replace('"ann"', '"aon"')],
    ['of another version', (whole) => whole.toString().replace('"version":1', '"version":2')],
    ['of no version', () => '{"state":{"codebases":[],"sandboxes":[]}}'],
    ['with an unknown key', (whole) => whole.toString().replace('{"version"', '{"extra":1,"version"')],
    ['with a record that is null', () => '{"version":1,"state":{"codebases":[null],"sandboxes":[]}}'],
    ['without the list of sandboxes', () => '{"version":1,"state":{"codebases":[]}}'],
    ['JSON of something else', () => '[1,2]'],
    ['null', () => 'null'],
    ['followed by more data', (whole) => `${whole}${whole}`],
  ];

  it.each(damages)('%s: is refused with one line that names it and the backup, and is kept', async (_, damage) => {
    const metadata = await open();
    await metadata.codebases.put(codebase('cb_1'));
    const damaged = Buffer.from(damage(await fs.readFile(path)));
    await fs.writeFile(path, damaged);
    const error = await open().then(
      () => undefined,
      (thrown: Error) => thrown.message,
    );
    expect(error).toMatch(/^storage\.db_path: [^\n]+$/);
    expect(error).toContain(path);
    expect(error).toContain(`${path}.bak`);
    expect(await fs.readFile(path)).toEqual(damaged);
  });

  it('is refused if it is a directory', async () => {
    await fs.mkdir(path);
    await expect(open()).rejects.toThrow(/^storage\.db_path: .*EISDIR/);
  });

  it('is refused if only its backup exists, and not treated as a new state', async () => {
    await (await open()).codebases.put(codebase('cb_1'));
    await fs.rm(path);
    await expect(open()).rejects.toThrow(/is missing/);
  });

  it('is read after a manual repair that removes its checksum', async () => {
    await (await open()).codebases.put(codebase('cb_1'));
    const text = await fs.readFile(path, 'utf8');
    await fs.writeFile(path, text.replace(/"sha256":"\w+",/, '').replace('"ann"', '"bob"'));
    expect((await open()).codebases.get('cb_1')?.owner_id).toBe('bob');
  });
});
