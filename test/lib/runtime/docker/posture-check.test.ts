import { describe, expect, it } from 'vitest';
import { checkPosture, statusOf } from '../../../../lib/runtime/docker/posture.ts';

const GOOD = {
  Uid: '7\t7\t7\t7',
  Gid: '7\t7\t7\t7',
  CapInh: '0000000000000000',
  CapPrm: '0000000000000000',
  CapEff: '0000000000000000',
  CapBnd: '0000000000000000',
  CapAmb: '0000000000000000',
  NoNewPrivs: '1',
  Seccomp: '2',
};
const status = (changes: object) =>
  Object.entries({ ...GOOD, ...changes })
    .map(([name, value]) => `${name}:\t${value}\n`)
    .join('');

describe('the posture of a container', () => {
  it('is accepted as it was requested', () => {
    expect(() => checkPosture(status({}), 7)).not.toThrow();
  });

  it.each([
    [{ Uid: '0\t0\t0\t0' }, 'the user'],
    [{ Uid: '7\t0\t0\t0' }, 'the user'],
    [{ Gid: '0\t0\t0\t0' }, 'the group'],
    [{ CapBnd: '0000000000200000' }, 'the capabilities'],
    [{ CapEff: '000001ffffffffff' }, 'the capabilities'],
    [{ NoNewPrivs: '0' }, 'no-new-privileges'],
    [{ Seccomp: '0' }, 'the system call filter'],
  ])('is refused with %j', (changes, named) => {
    expect(() => checkPosture(status(changes), 7)).toThrow(`did not apply ${named} asked for`);
  });

  it('is refused for a process without any restriction, and if nothing is known', () => {
    expect(() => checkPosture(statusOf(process.pid), 7)).toThrow('the user');
    expect(() => checkPosture('', 7)).toThrow('the system call filter');
  });
});
