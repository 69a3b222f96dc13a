import { describe, expect, it } from 'vitest';
import { ROOT_PATH } from '../../../lib/byte-string.ts';
import { commitPaused } from './commit.ts';
import { Sandbox } from './sandbox.ts';

const BASE = { 'q/f': 'base', 'q/d/g': 'base', 'p/n': 'n', z: 'base' };
const EXCHANGE = 2;

/** Each makes files that are equal to the codebase's at the old path of a directory that it renames. */
const MADE: Record<string, (s: Sandbox) => void> = {
  'a new directory': (s) => {
    s.rename('q', 'r');
    s.mkdir('q');
    s.create('q/f', 'base');
    s.mkdir('q/d');
    s.create('q/d/g', 'base');
  },
  'another renamed directory': (s) => {
    s.rename('q', 'r');
    s.rename('p', 'q');
    s.create('q/f', 'base');
    s.mkdir('q/d');
    s.rename('z', 'q/d/g');
  },
  'an exchanged directory': (s) => {
    s.rename('q', 'p', EXCHANGE);
    s.create('q/f', 'base');
    s.mkdir('q/d');
    s.create('q/d/g', 'base');
  },
};

const changes = (s: Sandbox) =>
  s.fs
    .changes(s.spec.id, ROOT_PATH, 1000)
    .changes.map(({ path, kind, conflict }) => `${kind} ${path}${conflict ? ' in conflict' : ''}`);

describe.each(Object.keys(MADE))(
  'a file that is as in the codebase, in %s at the old path of a committed one',
  (kind) => {
    it.each([false, true])('is changed and removed without a conflict; the server was killed: %s', (crashes) => {
      const s = new Sandbox(BASE);
      MADE[kind]!(s);
      commitPaused(s, {}, crashes);
      expect(changes(s)).toEqual([]);
      s.write('q/f', 'changed');
      s.unlink('q/d/g');
      expect(changes(s)).toEqual(['deleted q/d/g', 'modified q/f']);
      commitPaused(s);
      expect(changes(s)).toEqual([]);
      expect(s.tree()).toMatchObject({ 'q/d/': '', 'q/f': 'changed' });
      expect(s.exists('q/d/g')).toBe(false);
    });

    it('is in conflict with what another one commits there', () => {
      const s = new Sandbox(BASE);
      MADE[kind]!(s);
      commitPaused(s);
      s.write('q/f', 'changed');
      s.putBase('q/f', 'theirs');
      expect(changes(s)).toEqual(['modified q/f in conflict']);
    });
  },
);
