import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT_PATH } from '../../../lib/byte-string.ts';
import { commitAll } from './commit.ts';
import { Sandbox } from './sandbox.ts';

const changes = (s: Sandbox) =>
  s.fs.changes(s.spec.id, ROOT_PATH, 1000).changes.map(({ path, kind, conflict }) => ({ path, kind, conflict }));

const MAKE = {
  file: (s: Sandbox) => s.create('x', 'file'),
  directory: (s: Sandbox) => s.mkdir('x'),
  link: (s: Sandbox) => s.symlink('target', 'x'),
};
type Kind = keyof typeof MAKE;
const remove = (s: Sandbox, kind: Kind) => (kind === 'directory' ? s.rmdir('x') : s.unlink('x'));

const TIMES = ['before', 'after'] as const;
const REPLACED = TIMES.flatMap((when) =>
  (['file', 'directory'] as const).flatMap((from) =>
    (['file', 'directory', 'link'] as const).filter((to) => to !== from).map((to) => ({ when, from, to })),
  ),
);

describe('a new path that is changed while it is committed', () => {
  it.each(REPLACED)('has no conflict if a $from becomes a $to $when the codebase has it', ({ when, from, to }) => {
    const s = new Sandbox();
    MAKE[from](s);
    const replace = () => {
      remove(s, from);
      MAKE[to](s);
    };
    commitAll(s, false, { [when]: replace });
    expect(changes(s)).toEqual([{ path: 'x', kind: 'modified', conflict: false }]);
    if (to === 'link') return;
    commitAll(s);
    expect(statSync(join(s.spec.base, 'x')).isDirectory()).toBe(to === 'directory');
    expect(changes(s)).toEqual([]);
  });

  it.each(TIMES.flatMap((when) => (['file', 'directory'] as const).map((kind) => ({ when, kind }))))(
    'does not come back if a $kind is removed $when the codebase has it, and looked up',
    ({ when, kind }) => {
      const s = new Sandbox();
      MAKE[kind](s);
      const gone = () => remove(s, kind);
      const after = () => {
        if (when === 'after') gone();
        s.lookup('x');
        s.list('');
      };
      commitAll(s, false, { ...(when === 'before' && { before: gone }), after });
      expect(s.exists('x')).toBe(false);
      expect(s.list('')).not.toContain('x');
      expect(changes(s)).toEqual([{ path: 'x', kind: 'deleted', conflict: false }]);
    },
  );
});
