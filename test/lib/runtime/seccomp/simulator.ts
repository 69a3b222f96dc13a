import { BPF, type Instruction } from '../../../../lib/runtime/seccomp/assemble.ts';

export interface SeccompData {
  nr: number;
  arch: number;
  args?: readonly bigint[];
}

/** Runs a classic BPF program over struct seccomp_data as the kernel does; throws if the kernel would refuse it. */
export function simulate(program: readonly Instruction[], data: SeccompData, visited?: Set<number>): number {
  const memory = Buffer.alloc(64);
  memory.writeUInt32LE(data.nr >>> 0, 0);
  memory.writeUInt32LE(data.arch >>> 0, 4);
  (data.args ?? []).forEach((arg, index) => {
    memory.writeBigUInt64LE(BigInt.asUintN(64, arg), 16 + 8 * index);
  });
  let accumulator = 0;
  for (let pc = 0; pc < program.length; pc++) {
    visited?.add(pc);
    const { code, jt, jf, k } = program[pc]!;
    if (code === BPF.RET) return k;
    if (code === BPF.LD_W_ABS) accumulator = memory.readUInt32LE(k);
    else if (code === BPF.AND) accumulator = (accumulator & k) >>> 0;
    else if (code === BPF.JEQ) pc += accumulator === k ? jt : jf;
    else if (code === BPF.JGE) pc += accumulator >= k ? jt : jf;
    else if (code === BPF.JGT) pc += accumulator > k ? jt : jf;
    else throw new Error(`unknown instruction ${code} at ${pc}`);
  }
  throw new Error('ran off the end');
}
