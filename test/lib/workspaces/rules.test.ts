import { describe, expect, it } from 'vitest';
import { fromText } from '../../../lib/byte-string.ts';
import { outcome, rule, Sandbox } from './sandbox.ts';

const LEVELS = ['NONE', 'VIEW', 'READ', 'WRITE'] as const;
type Outcomes = [none: string, view: string, read: string, write: string];

/** Each operation on the path `t`; `id` is its node from before the rules, if it exists. */
const OPERATIONS: Record<string, (s: Sandbox, id: number) => unknown> = {
  lookup: (s) => s.id('t'),
  getattr: (s, id) => s.fs.getattr(s.caller, id),
  read: (s, id) => s.fs.read(s.caller, id, 0, Buffer.alloc(1)),
  write: (s, id) => s.fs.write(s.caller, id, 0, Buffer.from('x'), false),
  truncate: (s, id) => s.fs.setattr(s.caller, id, { size: 0 }),
  chmod: (s, id) => s.fs.setattr(s.caller, id, { mode: 0o700 }),
  utimes: (s, id) => s.fs.setattr(s.caller, id, { mtime: 'now' }),
  readlink: (s, id) => s.fs.readlink(s.caller, id),
  readdir: (s, id) => s.listId(id),
  fsync: (s, id) => s.fs.fsync(s.caller, id, false),
  'create exclusively': (s) => s.create('t'),
  'create in it': (s, id) => s.fs.create(s.caller, id, fromText('new'), 0o644, 0),
  mkdir: (s) => s.mkdir('t'),
  mkfifo: (s) => s.mkfifo('t'),
  symlink: (s) => s.symlink('x', 't'),
  'link from': (s, id) => s.fs.link(s.caller, id, s.id(''), fromText('linked')),
  'link onto': (s) => s.link('own', 't'),
  unlink: (s) => s.unlink('t'),
  rmdir: (s) => s.rmdir('t'),
  'rename from': (s) => s.rename('t', 'moved'),
  'rename a file onto': (s) => s.rename('own', 't'),
  'rename a directory onto': (s) => s.rename('owndir', 't'),
  'rename without replacing': (s) => s.rename('own', 't', 1),
  exchange: (s) => s.rename('own', 't', 2),
};

const NO: Outcomes = ['EACCES', 'EACCES', 'EACCES', 'ok'];
const IS_THERE: Outcomes = ['EACCES', 'EEXIST', 'EEXIST', 'EEXIST'];
const CHANGED: Outcomes = ['ENOENT', 'EACCES', 'EACCES', 'ok'];

function always(errno: string): Outcomes {
  return [errno, errno, errno, errno];
}

/** For a node whose name the kernel still has: a new lookup of the name finds nothing. */
const STALE: Outcomes = ['ESTALE', 'ok', 'ok', 'ok'];

const COMMON: Record<string, Outcomes> = {
  lookup: ['ENOENT', 'ok', 'ok', 'ok'],
  getattr: ['ENOENT', 'ok', 'ok', 'ok'],
  chmod: CHANGED,
  utimes: CHANGED,
  fsync: always('ok'),
  'create exclusively': IS_THERE,
  mkdir: IS_THERE,
  mkfifo: IS_THERE,
  symlink: IS_THERE,
  'link onto': IS_THERE,
  'rename from': CHANGED,
  'rename without replacing': ['EACCES', 'EEXIST', 'EEXIST', 'EEXIST'],
  exchange: ['ENOENT', 'EACCES', 'EACCES', 'ok'],
};

const NOT_A_DIRECTORY: Record<string, Outcomes> = {
  getattr: STALE,
  readdir: always('ENOTDIR'),
  'create in it': always('ENOTDIR'),
  rmdir: ['ENOENT', 'ENOTDIR', 'ENOTDIR', 'ENOTDIR'],
  unlink: CHANGED,
  'link from': CHANGED,
  'rename a file onto': NO,
  'rename a directory onto': ['EACCES', 'EACCES', 'EACCES', 'ENOTDIR'],
};

const EXPECTED: Record<'file' | 'symlink' | 'directory', Record<string, Outcomes>> = {
  file: {
    ...COMMON,
    ...NOT_A_DIRECTORY,
    read: ['EACCES', 'EACCES', 'ok', 'ok'],
    write: NO,
    truncate: CHANGED,
    readlink: always('EINVAL'),
  },
  symlink: {
    ...COMMON,
    ...NOT_A_DIRECTORY,
    read: always('EINVAL'),
    write: always('EINVAL'),
    truncate: ['ENOENT', 'EACCES', 'EACCES', 'EINVAL'],
    readlink: ['ESTALE', 'EACCES', 'ok', 'ok'],
  },
  directory: {
    ...COMMON,
    read: always('EISDIR'),
    write: always('EISDIR'),
    truncate: ['ENOENT', 'EACCES', 'EACCES', 'EISDIR'],
    readlink: always('EINVAL'),
    readdir: ['ENOENT', 'ok', 'ok', 'ok'],
    'create in it': ['ENOENT', 'EACCES', 'EACCES', 'ok'],
    unlink: ['ENOENT', 'EISDIR', 'EISDIR', 'EISDIR'],
    rmdir: CHANGED,
    'link from': always('EPERM'),
    'rename a file onto': ['EACCES', 'EACCES', 'EACCES', 'EISDIR'],
    'rename a directory onto': NO,
  },
};

const ABSENT: Record<string, Outcomes> = {
  lookup: always('ENOENT'),
  'create exclusively': NO,
  mkdir: NO,
  mkfifo: NO,
  symlink: NO,
  'link onto': NO,
  unlink: always('ENOENT'),
  rmdir: always('ENOENT'),
  'rename from': always('ENOENT'),
  'rename a file onto': NO,
  'rename a directory onto': NO,
  'rename without replacing': NO,
  exchange: always('ENOENT'),
};

const RULES = (level: (typeof LEVELS)[number]) => [rule('/**', 'WRITE'), rule('/t', level, 1), rule('/t/**', level, 1)];

function populated(kind: 'file' | 'symlink' | 'directory', where: 'base' | 'delta'): Sandbox {
  const s = new Sandbox({ own: 'own', 'owndir/': '' });
  if (kind === 'file') where === 'base' ? s.putBase('t', 'secret') : s.create('t', 'secret');
  if (kind === 'symlink') where === 'base' ? s.linkBase('own', 't') : s.symlink('own', 't');
  if (kind === 'directory') where === 'base' ? s.putBase('t/', '') : s.mkdir('t');
  return s;
}

for (const kind of ['file', 'symlink', 'directory'] as const) {
  for (const where of ['base', 'delta'] as const) {
    describe(`a ${kind} in the ${where}`, () => {
      it.each(Object.entries(EXPECTED[kind]))('%s', (operation, expected) => {
        const outcomes = LEVELS.map((level) => {
          const s = populated(kind, where);
          const id = s.id('t');
          s.fs.setRules('sb_1', RULES(level));
          return outcome(() => OPERATIONS[operation]!(s, id));
        });
        // A file that was written to here is invalidated at once.
        // What is redacted can be used as what may be read.
        const s = populated(kind, where);
        const id = s.id('t');
        s.fs.setRules('sb_1', [
          rule('/**', 'WRITE'),
          ...['/t', '/t/**'].map((pattern) => ({ ...rule(pattern, 'READ', 1), view: 'redacted' })),
        ]);
        expect(outcome(() => OPERATIONS[operation]!(s, id))).toBe(outcomes[2]);
        const told = operation === 'getattr' && kind === 'file' && where === 'delta';
        expect(outcomes).toEqual(told ? COMMON.getattr : expected);
      });
    });
  }
}

describe('an absent path', () => {
  it.each(Object.entries(ABSENT))('%s', (operation, expected) => {
    const outcomes = LEVELS.map((level) => {
      const s = new Sandbox({ own: 'own', 'owndir/': '' }, { rules: RULES(level) });
      return outcome(() => OPERATIONS[operation]!(s, 0));
    });
    expect(outcomes).toEqual(expected);
  });
});

describe('the tables of outcomes contain every operation', () => {
  it.each(Object.keys(EXPECTED))('%s', (kind) => {
    expect(Object.keys(EXPECTED[kind as 'file']).sort()).toEqual(Object.keys(OPERATIONS).sort());
  });
});
