import { ENOSYS, POLICY, type Rule } from '../seccomp/policy.ts';
import { ALWAYS, and, type Condition, negated, whereTest } from './conditions.ts';
import { SYSCALL_NAMES } from './syscall-names.ts';

interface Argument {
  index: number;
  /** The mask of the comparison. */
  value: number;
  valueTwo: number;
  op: 'SCMP_CMP_MASKED_EQ';
}

interface SyscallRule {
  names: string[];
  action: 'SCMP_ACT_ALLOW' | 'SCMP_ACT_ERRNO';
  errnoRet?: number;
  args?: Argument[];
}

/**
 * The value of Docker's `SecurityOpt: seccomp=…`:
 * https://github.com/opencontainers/runtime-spec/blob/main/config-linux.md#seccomp
 */
export interface SeccompProfile {
  defaultAction: 'SCMP_ACT_ERRNO';
  defaultErrnoRet: number;
  architectures: string[];
  syscalls: SyscallRule[];
}

const ARCHITECTURES = { x64: 'SCMP_ARCH_X86_64', arm64: 'SCMP_ARCH_AARCH64' } as const;

/**
 * Converts the policy of sandboxes to a Docker profile. Allowed calls are listed by name, so that calls unknown to the
 * profile or to the daemon's libseccomp are refused (ENOSYS; EPERM from daemons before 23). Foreign architectures are
 * killed.
 */
export function seccompProfile(arch: keyof typeof ARCHITECTURES, policy: readonly Rule[] = POLICY): SeccompProfile {
  const rulesOf = new Map<string, Rule[]>();
  for (const rule of policy) {
    for (const call of rule.calls) rulesOf.set(call, [...(rulesOf.get(call) ?? []), rule]);
  }
  const free = SYSCALL_NAMES.filter((name) => !rulesOf.has(name));
  const syscalls: SyscallRule[] = [{ names: free, action: 'SCMP_ACT_ALLOW' }];
  for (const [name, rules] of rulesOf) {
    let allowed = ALWAYS;
    for (const rule of rules) {
      const { where, otherwise } = sides(rule);
      // The first matching rule decides, as in the assembled program.
      for (const args of argumentsOf(and(allowed, where))) syscalls.push(refusal(name, rule.errno, args));
      allowed = and(allowed, otherwise);
    }
    for (const args of argumentsOf(allowed)) syscalls.push({ names: [name], action: 'SCMP_ACT_ALLOW', args });
  }
  return { defaultAction: 'SCMP_ACT_ERRNO', defaultErrnoRet: ENOSYS, architectures: [ARCHITECTURES[arch]], syscalls };
}

/**
 * The conditions under which the rule applies, and under which it does not: the first test fails; or it holds and the
 * second fails; and so on.
 */
function sides({ tests = [] }: Rule): { where: Condition; otherwise: Condition } {
  let where = ALWAYS;
  const otherwise: Condition[] = [];
  for (const test of tests) {
    otherwise.push(and(where, whereTest(negated(test))));
    where = and(where, whereTest(test));
  }
  return { where, otherwise: otherwise.flat() };
}

function refusal(name: string, errno: number, args: Argument[]): SyscallRule {
  return { names: [name], action: 'SCMP_ACT_ERRNO', errnoRet: errno, ...(args.length > 0 && { args }) };
}

function argumentsOf(condition: Condition): Argument[][] {
  return condition.map((all) =>
    [...all].map(([index, { mask, value }]) => ({ index, value: mask, valueTwo: value, op: 'SCMP_CMP_MASKED_EQ' })),
  );
}
