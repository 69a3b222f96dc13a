import { ENOSYS, POLICY, type Rule } from './policy.ts';
import { LAST_REVIEWED, SYSCALLS } from './syscalls.ts';

export type Arch = 'x64' | 'arm64';

/** One classic BPF instruction (struct sock_filter, include/uapi/linux/filter.h). */
export interface Instruction {
  code: number;
  jt: number;
  jf: number;
  k: number;
}

export const BPF = { LD_W_ABS: 0x20, JEQ: 0x15, JGE: 0x35, JGT: 0x25, AND: 0x54, RET: 0x06 } as const;
export const SECCOMP_RET = { KILL_PROCESS: 0x8000_0000, ERRNO: 0x0005_0000, ALLOW: 0x7fff_0000 } as const;
export const AUDIT_ARCH = { x64: 0xc000_003e, arm64: 0xc000_00b7 } as const satisfies Record<Arch, number>;

/** Offsets in struct seccomp_data. Arguments are 64-bit, little endian on both architectures: the low half is first. */
const NR = 0;
const ARCH = 4;
const argLow = (index: number) => 16 + 8 * index;

/** Set in the numbers of x32 calls, never in those of x86-64. */
const X32_BIT = 0x4000_0000;
/** The kernel's limit (BPF_MAXINSNS). */
const MAX_INSTRUCTIONS = 4096;

const load = (offset: number): Instruction => ({ code: BPF.LD_W_ABS, jt: 0, jf: 0, k: offset });
const and = (mask: number): Instruction => ({ code: BPF.AND, jt: 0, jf: 0, k: mask >>> 0 });
const ret = (value: number): Instruction => ({ code: BPF.RET, jt: 0, jf: 0, k: value >>> 0 });
const jump = (code: number, k: number, jt: number, jf: number): Instruction => ({ code, jt, jf, k: k >>> 0 });

/** Returns `errno` if all tests hold; otherwise execution continues after the block, with the accumulator changed. */
function conditional(rule: Rule): Instruction[] {
  const blocks: Instruction[][] = [[ret(SECCOMP_RET.ERRNO | rule.errno)]];
  for (const test of [...(rule.tests ?? [])].reverse()) {
    const after = blocks.flat().length;
    const block = [load(argLow(test.arg))];
    if (test.mask !== undefined) block.push(and(test.mask));
    test.values.forEach((value, index) => {
      const left = test.values.length - 1 - index;
      // 'in': a match jumps to the next test, the last mismatch skips the rule. 'not-in': the reverse.
      if (test.when === 'in') block.push(jump(BPF.JEQ, value, left, left === 0 ? after : 0));
      else block.push(jump(BPF.JEQ, value, left + after, 0));
    });
    blocks.unshift(block);
  }
  return blocks.flat();
}

/** What is done with one call; a call without a check is allowed. */
interface Check {
  nr: number;
  code: readonly Instruction[];
}

/** In ascending order of their calls. */
function checksOf(arch: Arch, policy: readonly Rule[]): Check[] {
  const column = arch === 'x64' ? 0 : 1;
  const checks: Check[] = [];
  const tested = new Map<number, Rule[]>();
  for (const rule of policy) {
    for (const call of rule.calls) {
      const nr = SYSCALLS[call][column];
      if (nr === null) continue;
      if (rule.tests) tested.set(nr, [...(tested.get(nr) ?? []), rule]);
      else checks.push({ nr, code: [jump(BPF.JEQ, nr, 0, 1), ret(SECCOMP_RET.ERRNO | rule.errno)] });
    }
  }
  for (const [nr, rules] of tested) {
    const body = [...rules.flatMap(conditional), ret(SECCOMP_RET.ALLOW)];
    checks.push({ nr, code: [jump(BPF.JEQ, nr, 0, body.length), ...body] });
  }
  return checks.sort((a, b) => a.nr - b.nr);
}

/** Checks that are made one after the other. */
const IN_A_ROW = 8;

/**
 * A binary search for the check of a call from `first` to `last`. When a filter is installed, which is done twice for each sandbox, the
 * kernel runs it for every call there is (seccomp_cache_prepare): with all checks in a row that took longer than the rest of the
 * installation.
 */
function search(checks: readonly Check[], first: number, last: number): Instruction[] {
  if (checks.length <= IN_A_ROW) {
    const code = checks.flatMap((each) => each.code);
    // If each call has a check, the last one need not be compared.
    if (checks.length <= last - first) return [...code, ret(SECCOMP_RET.ALLOW)];
    const end = checks.at(-1)!.code.length;
    return [...code.slice(0, -end), ...code.slice(1 - end)];
  }
  const half = checks.length >> 1;
  const middle = checks[half]!.nr;
  const below = search(checks.slice(0, half), first, middle - 1);
  return [jump(BPF.JGE, middle, below.length, 0), ...below, ...search(checks.slice(half), middle, last)];
}

/** Returns the complete filter for one architecture, without side effects, so that tests can run it in a simulator. */
export function assemble(arch: Arch, policy: readonly Rule[] = POLICY): Instruction[] {
  const program = [load(ARCH), jump(BPF.JEQ, AUDIT_ARCH[arch], 1, 0), ret(SECCOMP_RET.KILL_PROCESS), load(NR)];
  if (arch === 'x64') program.push(jump(BPF.JGE, X32_BIT, 0, 1), ret(SECCOMP_RET.KILL_PROCESS));
  program.push(jump(BPF.JGT, LAST_REVIEWED, 0, 1), ret(SECCOMP_RET.ERRNO | ENOSYS));
  program.push(...search(checksOf(arch, policy), 0, LAST_REVIEWED));
  if (program.length > MAX_INSTRUCTIONS) throw new RangeError(`filter of ${program.length} instructions`);
  return program;
}

/** Encodes the filter for the kernel and `bwrap --seccomp`: 8 bytes per instruction, little endian. */
export function encode(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8);
  program.forEach(({ code, jt, jf, k }, index) => {
    if (jt > 255 || jf > 255) throw new RangeError(`jump too long at instruction ${index}`);
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(jt, index * 8 + 2);
    bytes.writeUInt8(jf, index * 8 + 3);
    bytes.writeUInt32LE(k, index * 8 + 4);
  });
  return bytes;
}

/** Returns the filter bytes for an architecture of Node (process.arch), or undefined if there is no filter for it. */
export function filterFor(arch: string): Buffer | undefined {
  return arch === 'x64' || arch === 'arm64' ? encode(assemble(arch)) : undefined;
}
