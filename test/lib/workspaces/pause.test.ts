import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { fromText, ROOT_PATH } from '../../../lib/byte-string.ts';
import { ENOSPC } from '../../../lib/linux/errno.ts';
import type { WorkspaceOperations } from '../../../lib/workspaces/calls.ts';
import { Delta } from '../../../lib/workspaces/delta/delta.ts';
import type { RebaseStage } from '../../../lib/workspaces/workspaces.ts';
import type { Sandbox } from './sandbox.ts';
import { postponedBy, sliced } from './stepping.ts';

const BASE = { 'd/f': 'f', 'e/g': 'g', a: 'a', b: 'b' };
const STAGE: RebaseStage = { commit: 'c', stage: 0, paths: [], revertPaths: [], resumed: false };

/** What programs do, each with all that it needs from the file system. */
const REQUESTS: Record<string, (s: Sandbox) => unknown> = {
  lookup: (s) => s.lookup('a'),
  list: (s) => s.list(''),
  read: (s) => s.read('a'),
  write: (s) => s.write('a', 'A'),
  create: (s) => s.create('new', 'new'),
  mkdir: (s) => s.mkdir('new'),
  unlink: (s) => s.unlink('a'),
  rename: (s) => s.rename('a', 'new'),
};

describe('while a sandbox is paused', () => {
  it.each(Object.keys(REQUESTS))('a program waits until the pause ends: %s', (request) => {
    const { s, released } = sliced(BASE);
    s.tree();
    s.fs.pause(s.spec.id);
    const cause = postponedBy(() => REQUESTS[request]!(s));
    expect(released).not.toContain(cause);
    s.fs.resume(s.spec.id);
    expect(released).toContain(cause);
    REQUESTS[request]!(s);
  });

  it('clients wait', () => {
    const { s } = sliced(BASE);
    s.fs.pause(s.spec.id);
    const path = fromText('a');
    expect(() => s.fs.control('files', [s.spec.id, 'owner', 'stat', [path]])).toThrow();
    postponedBy(() => s.fs.begin('files', [s.spec.id, 'owner', 'list', [ROOT_PATH, ROOT_PATH, 10]]));
    postponedBy(() => s.fs.begin('files', [s.spec.id, 'owner', 'move', [path, fromText('c'), false]]));
  });

  it('the kernel reads and writes pages, for which other system calls may wait', () => {
    const { s } = sliced(BASE);
    const id = s.id('a');
    s.fs.pause(s.spec.id);
    const kernel = { uid: 0, gid: 0, pid: 0 };
    const into = Buffer.alloc(10);
    expect(s.fs.write(kernel, id, 0, Buffer.from('A'), false)).toBe(1);
    expect(into.toString('utf8', 0, s.fs.read(kernel, id, 0, into))).toBe('A');
  });

  it('its changes can be listed, and its codebase be changed', () => {
    const { s } = sliced(BASE);
    s.write('a', 'A');
    s.fs.pause(s.spec.id);
    expect(s.fs.changes(s.spec.id, ROOT_PATH, 10).changes).toHaveLength(1);
    s.fs.baseChanging('cb_1', [fromText('b')]);
    s.putBase('b', 'other');
    s.fs.baseChanged('cb_1', [fromText('b')]);
    s.fs.resume(s.spec.id);
    expect(s.read('b')).toBe('other');
  });
});

it('what a commit does in a pause is answered before the kernel has been told of it', () => {
  const { s } = sliced(BASE);
  const answersAtOnce = (operation: keyof WorkspaceOperations, ...args: unknown[]) =>
    s.fs.answersAtOnce(operation, [s.spec.id, ...args]);
  expect(answersAtOnce('changes', ROOT_PATH, 1, { isPaused: true })).toBe(true);
  expect(answersAtOnce('rebase', STAGE)).toBe(true);
  expect(answersAtOnce('rebase', { ...STAGE, isLast: true })).toBe(false);
  for (const operation of ['contents', 'redactedTexts', 'preserveRemoved', 'baseChanging', 'resume'] as const)
    expect(answersAtOnce(operation), operation).toBe(true);
});

it('new rules wait until the pause ends: others would wait for what the kernel is told of them', () => {
  const { s } = sliced(BASE);
  s.fs.pause(s.spec.id);
  postponedBy(() => s.fs.begin('setRules', [s.spec.id, []]));
  s.fs.resume(s.spec.id);
  s.fs.setRules(s.spec.id, []);
});

describe('a pause ends', () => {
  const paused = () => {
    const { s, released } = sliced(BASE);
    s.create('new');
    s.fs.pause(s.spec.id);
    return { s, released, cause: postponedBy(() => s.list('')) };
  };

  it('with the rebase of the last stage of a commit, and not of another', () => {
    const { s, released, cause } = paused();
    s.fs.rebase(s.spec, STAGE);
    expect(released).not.toContain(cause);
    s.fs.rebase(s.spec, { ...STAGE, stage: 1, isLast: true });
    expect(released).toContain(cause);
    s.list('');
  });

  it('with a rebase that fails', () => {
    const { s } = paused();
    const failing = vi.spyOn(Delta.prototype, 'committing').mockImplementationOnce(() => {
      throw ENOSPC;
    });
    onTestFinished(() => failing.mockRestore());
    expect(() => s.fs.rebase(s.spec, STAGE)).toThrow();
    s.list('');
  });

  it('with the next one, for which its requests wait then', () => {
    const { s, released, cause } = paused();
    s.fs.pause(s.spec.id);
    expect(released).toContain(cause);
    expect(postponedBy(() => s.list(''))).not.toBe(cause);
  });

  it('when the workspace is detached', () => {
    const { s, released, cause } = paused();
    s.fs.detach(s.spec.id);
    expect(released).toContain(cause);
    s.fs.resume(s.spec.id);
  });
});
