import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Codebase, Sandbox } from '../../lib/contract/messages.ts';
import { EVERYTHING, read } from '../contract/rules.ts';
import type { Scene } from '../contract/scene.ts';
import { useServer } from '../contract/use-server.ts';
import { Program } from './program.ts';

const served = useServer();
let scene: Scene;
let codebase: Codebase;
let sandbox: Sandbox;
let program: Program;

beforeEach(async () => {
  scene = served.scene();
  codebase = await scene.codebase({ f: 'of the codebase\n' });
  sandbox = await scene.sandbox(codebase);
  program = await Program.start(scene, sandbox);
});
afterEach(() => scene.close());

const commit = () => scene.client.call('Commit', { sandbox_id: sandbox.id, paths: [] });

describe.each(['delete', 'wal'])('a database in journal mode %s', (mode) => {
  const made = `
db = sqlite3.connect('a.db', timeout=0.2, isolation_level=None)
db.execute('pragma journal_mode=${mode}')
db.execute('create table t (n)')
db.execute('insert into t values (1)')
`;
  const whole =
    "answer = [db.execute('select count(*) from t').fetchone()[0], db.execute('pragma integrity_check').fetchone()[0]]";

  it('is written to by an open connection after a commit', async () => {
    await program.ask(made);
    await commit();
    expect(await program.ask("db.execute('insert into t values (2)')")).toBe(null);
    await commit();
    expect(await program.ask("db.execute('insert into t values (3)')")).toBe(null);
    expect(await program.ask(whole)).toEqual([3, 'ok']);
  });

  it('is kept locked by an open transaction during a commit', async () => {
    await program.ask(`${made}db.execute('begin immediate')\ndb.execute('insert into t values (2)')`);
    await commit();
    const other = await Program.start(scene, sandbox);
    // Its end would release the locks of the first connection if the number of the file had changed.
    await program.ask("sqlite3.connect('a.db').execute('select * from t').connection.close()");
    const attempt =
      "db = sqlite3.connect('a.db', timeout=0.2, isolation_level=None)\ndb.execute('insert into t values (9)')";
    expect(await other.ask(attempt)).toBe('OperationalError: database is locked');
    expect(await program.ask("db.execute('commit')")).toBe(null);
    expect(await other.ask("db.execute('insert into t values (3)')")).toBe(null);
    expect(await other.ask(whole)).toEqual([3, 'ok']);
  });
});

/** What happens to a file of the sandbox from outside. */
const EVENTS: Record<string, () => Promise<unknown>> = {
  'a commit': commit,
  'two commits': async () => {
    await commit();
    await scene.output(sandbox, 'echo again >> f; echo again >> new');
    await commit();
  },
  'a discard': () => scene.client.call('Discard', { sandbox_id: sandbox.id, paths: ['f'] }),
  'a rollback': async () => {
    await scene.client.call('CreateCheckpoint', { sandbox_id: sandbox.id, name: 'then' });
    await scene.output(sandbox, 'echo more >> f; echo more >> new');
    await commit();
    await scene.client.call('Rollback', { sandbox_id: sandbox.id, checkpoint: 'then' });
  },
  'new rules': () =>
    scene.client.call('UpdatePermissions', {
      sandbox_id: sandbox.id,
      permissions: [...EVERYTHING, read('/f', 9)],
    }),
};

const OPEN = `
fds = {name: os.open(name, os.O_RDWR | os.O_CREAT) for name in ('f', 'new')}
for fd in fds.values():
    os.write(fd, b'of the sandbox\\n')
    fcntl.lockf(fd, fcntl.LOCK_EX)
before = {name: os.fstat(fd).st_ino for name, fd in fds.items()}
`;
const NUMBERS =
  'answer = [[os.fstat(fd).st_ino == before[name], os.stat(name).st_ino == before[name]] for name, fd in fds.items()]';
const LISTED = "answer = [entry.inode() == before[entry.name] for entry in os.scandir('.') if entry.name in before]";
const ATTEMPT = `
answer = []
for name in ('f', 'new'):
    fd = os.open(name, os.O_RDONLY)
    for take in (lambda: fcntl.lockf(fd, fcntl.LOCK_SH | fcntl.LOCK_NB), lambda: fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)):
        try: take()
        except BlockingIOError: answer.append('held')
        else: answer.append('free')
`;

describe.each(Object.keys(EVENTS))('an open file after %s', (event) => {
  it('has the inode number that it had, as its path and its directory entry have', async () => {
    expect(await program.ask(OPEN)).toBe(null);
    await EVENTS[event]!();
    expect(await program.ask(NUMBERS)).toEqual([
      [true, true],
      [true, true],
    ]);
    expect(await program.ask(LISTED)).toEqual([true, true]);
  });

  it('is locked for other programs as before', async () => {
    await program.ask(`${OPEN}\nfor fd in fds.values(): fcntl.flock(fd, fcntl.LOCK_EX)`);
    await EVENTS[event]!();
    const other = await Program.start(scene, sandbox);
    expect(await other.ask(ATTEMPT)).toEqual(['held', 'held', 'held', 'held']);
  });
});

it('a file that is mapped during a commit shows what others write to it afterwards', async () => {
  await program.ask(`${OPEN}\nimport mmap\nmapped = mmap.mmap(fds['f'], 15)`);
  await commit();
  await scene.output(sandbox, 'printf later | dd of=f conv=notrunc status=none');
  expect(await program.ask('answer = mapped[:].decode()')).toBe('latere sandbox\n');
});

it('a file open in another sandbox keeps number, contents and lock while a commit replaces it', async () => {
  const reader = await scene.sandbox(codebase);
  const open = await Program.start(scene, reader);
  await open.ask("fd = os.open('f', os.O_RDONLY)\nfcntl.lockf(fd, fcntl.LOCK_SH)\nbefore = os.fstat(fd).st_ino");
  await scene.output(sandbox, 'echo of the sandbox > f');
  await commit();
  expect(
    await open.ask("answer = [os.fstat(fd).st_ino == before, os.read(fd, 99).decode(), open('f').read()]"),
  ).toEqual([true, 'of the codebase\n', 'of the sandbox\n']);
});
