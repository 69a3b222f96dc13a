import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seccompProfile } from '../../../../lib/runtime/docker/seccomp-profile.ts';
import { SYSCALL_NAMES } from '../../../../lib/runtime/docker/syscall-names.ts';
import { type ArgTest, ENOSYS, POLICY } from '../../../../lib/runtime/seccomp/policy.ts';
import { SYSCALLS } from '../../../../lib/runtime/seccomp/syscalls.ts';

const profile = seccompProfile('x64');
const rulesOf = new Map<string, typeof profile.syscalls>();
for (const rule of profile.syscalls) {
  for (const name of rule.names) rulesOf.set(name, [...(rulesOf.get(name) ?? []), rule]);
}

/** Returns 0 for allowed, else the errno, of every matching rule, because libseccomp evaluates them in any order. */
function answers(name: string, args: readonly number[]): number[] {
  const holds = (rulesOf.get(name) ?? []).filter((rule) =>
    (rule.args ?? []).every(({ index, value, valueTwo }) => (args[index]! & value) >>> 0 === valueTwo),
  );
  return holds.map((rule) => (rule.action === 'SCMP_ACT_ALLOW' ? 0 : rule.errnoRet!));
}

function byPolicy(name: string, args: readonly number[]): number {
  const passes = ({ arg, mask = 0xffff_ffff, values, when }: ArgTest) =>
    values.includes((args[arg]! & mask) >>> 0) === (when === 'in');
  return (
    POLICY.find(({ calls, tests = [] }) => (calls as readonly string[]).includes(name) && tests.every(passes))?.errno ??
    0
  );
}

const BOUNDARIES = POLICY.flatMap(({ tests = [] }) => tests.flatMap(({ mask = 0, values }) => [mask, ...values]))
  .flatMap((value) => [value - 1, value, value + 1])
  .map((value) => value >>> 0);
const argument = fc.oneof(fc.constantFrom(...BOUNDARIES), fc.integer({ min: 0, max: 0xffff_ffff }));

describe("the seccomp profile for Docker's daemon", () => {
  it("has the policy's result for every call of the policy, by exactly one rule", () => {
    const call = fc.tuple(
      fc.constantFrom(...Object.keys(SYSCALLS)),
      fc.array(argument, { minLength: 6, maxLength: 6 }),
    );
    fc.assert(
      fc.property(call, ([name, args]) => {
        expect(answers(name, args)).toEqual([byPolicy(name, args)]);
      }),
      { numRuns: 5000 },
    );
  });

  it('refuses calls that it does not name', () => {
    expect(profile.defaultAction).toBe('SCMP_ACT_ERRNO');
    expect(profile.defaultErrnoRet).toBe(ENOSYS);
  });

  it('allows ordinary calls, each named once', () => {
    for (const name of ['read', 'execve', 'openat', 'futex', 'mmap', 'fork', 'wait4', 'rseq']) {
      expect(answers(name, [0, 0, 0, 0, 0, 0])).toEqual([0]);
    }
  });

  it('contains every call of the policy exactly once', () => {
    expect(Object.keys(SYSCALLS).filter((name) => !SYSCALL_NAMES.includes(name))).toEqual([]);
    expect(new Set(SYSCALL_NAMES).size).toBe(SYSCALL_NAMES.length);
  });

  it('names one architecture, so that the daemon kills calls of others', () => {
    expect(profile.architectures).toEqual(['SCMP_ARCH_X86_64']);
    expect(seccompProfile('arm64').architectures).toEqual(['SCMP_ARCH_AARCH64']);
  });
});
