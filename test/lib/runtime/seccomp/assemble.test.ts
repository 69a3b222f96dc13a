import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Arch, AUDIT_ARCH, assemble, encode, SECCOMP_RET } from '../../../../lib/runtime/seccomp/assemble.ts';
import { EAFNOSUPPORT, ENOSYS, EPERM, EPROTONOSUPPORT, POLICY } from '../../../../lib/runtime/seccomp/policy.ts';
import { LAST_REVIEWED, SYSCALLS, type SyscallName } from '../../../../lib/runtime/seccomp/syscalls.ts';
import { simulate } from './simulator.ts';

const ARCHES: readonly Arch[] = ['x64', 'arm64'];
const errno = (value: number) => SECCOMP_RET.ERRNO | value;
const HIGH = 0xdead_beef_0000_0000n;

function run(arch: Arch, call: SyscallName, ...args: bigint[]) {
  const nr = SYSCALLS[call][arch === 'x64' ? 0 : 1];
  if (nr === null) return undefined;
  return simulate(assemble(arch), { nr, arch: AUDIT_ARCH[arch], args });
}

describe.each(ARCHES)('the seccomp filter for %s', (arch) => {
  it('returns the errno of every unconditional rule', () => {
    for (const rule of POLICY.filter((each) => !each.tests)) {
      for (const call of rule.calls) expect([undefined, errno(rule.errno)], call).toContain(run(arch, call));
    }
  });

  it('kills foreign architectures', () => {
    for (const foreign of [0x4000_0003, 0x4000_0028, AUDIT_ARCH[arch === 'x64' ? 'arm64' : 'x64'], 0]) {
      expect(simulate(assemble(arch), { nr: 0, arch: foreign })).toBe(SECCOMP_RET.KILL_PROCESS);
    }
  });

  it('returns ENOSYS for calls newer than the last reviewed one, which it allows', () => {
    const at = (nr: number) => simulate(assemble(arch), { nr, arch: AUDIT_ARCH[arch] });
    expect(at(LAST_REVIEWED + 1)).toBe(errno(ENOSYS));
    expect(at(LAST_REVIEWED)).toBe(SECCOMP_RET.ALLOW);
  });

  it('allows every call that the policy does not name', () => {
    const named = new Set<number | null>(Object.values(SYSCALLS).map((pair) => pair[arch === 'x64' ? 0 : 1]));
    for (let nr = 0; nr <= LAST_REVIEWED; nr++) {
      if (!named.has(nr)) {
        expect(simulate(assemble(arch), { nr, arch: AUDIT_ARCH[arch] }), `${nr}`).toBe(SECCOMP_RET.ALLOW);
      }
    }
  });

  it('refuses each namespace flag of clone, alone and combined, and allows threads and forks', () => {
    for (const flag of [0x20000n, 0x2000000n, 0x4000000n, 0x8000000n, 0x10000000n, 0x20000000n, 0x40000000n]) {
      expect(run(arch, 'clone', flag)).toBe(errno(EPERM));
      expect(run(arch, 'clone', flag | 0x11n | HIGH)).toBe(errno(EPERM));
    }
    expect(run(arch, 'clone', 0x3d0f00n)).toBe(SECCOMP_RET.ALLOW);
    expect(run(arch, 'clone', 0x1200011n)).toBe(SECCOMP_RET.ALLOW);
  });

  it('refuses TIOCSTI and TIOCLINUX for any high bits', () => {
    for (const request of [0x5412n, 0x541cn]) {
      expect(run(arch, 'ioctl', 0n, request)).toBe(errno(EPERM));
      expect(run(arch, 'ioctl', 0n, request | HIGH)).toBe(errno(EPERM));
    }
    expect(run(arch, 'ioctl', 0n, 0x5401n)).toBe(SECCOMP_RET.ALLOW);
  });

  it('allows unix, inet, inet6 and route netlink sockets only', () => {
    for (let family = 0n; family <= 64n; family++) {
      const allowed = [1n, 2n, 10n, 16n].includes(family);
      expect(run(arch, 'socket', family, 1n, 0n), `${family}`).toBe(allowed ? SECCOMP_RET.ALLOW : errno(EAFNOSUPPORT));
    }
    expect(run(arch, 'socket', 40n | HIGH, 1n, 0n)).toBe(errno(EAFNOSUPPORT));
    expect(run(arch, 'socket', 16n, 3n, 9n)).toBe(errno(EPROTONOSUPPORT));
    expect(run(arch, 'socket', 2n, 1n, 6n)).toBe(SECCOMP_RET.ALLOW);
    expect(run(arch, 'socketpair', 1n)).toBe(SECCOMP_RET.ALLOW);
    expect(run(arch, 'socketpair', 40n)).toBe(errno(EAFNOSUPPORT));
  });

  it('allows TCP, UDP and ICMP of inet only, which is what is counted and limited', () => {
    for (const family of [2n, 10n]) {
      for (let protocol = 0n; protocol <= 300n; protocol++) {
        const allowed = [0n, 1n, 6n, 17n, 58n, 255n].includes(protocol);
        for (const bits of [0n, 0o2000000n, 0o4000n])
          expect(run(arch, 'socket', family, 1n | bits, protocol), `${protocol}`).toBe(
            allowed ? SECCOMP_RET.ALLOW : errno(EPROTONOSUPPORT),
          );
      }
      for (let type = 0n; type <= 15n; type++) {
        const allowed = [1n, 2n, 3n].includes(type);
        expect(run(arch, 'socket', family, type, 0n)).toBe(allowed ? SECCOMP_RET.ALLOW : errno(EPROTONOSUPPORT));
      }
      expect(run(arch, 'socket', family | HIGH, 1n, 262n | HIGH)).toBe(errno(EPROTONOSUPPORT));
    }
    expect(run(arch, 'socket', 1n, 5n, 0n)).toBe(SECCOMP_RET.ALLOW);
  });

  it('refuses device nodes and allows FIFOs, sockets and files', () => {
    for (const [call, before] of [
      ['mknod', [0n]],
      ['mknodat', [0n, 0n]],
    ] as const) {
      for (const mode of [0x2000n, 0x6000n, 0x21ffn, 0x61ffn]) {
        expect([undefined, errno(EPERM)]).toContain(run(arch, call, ...before, mode));
      }
      for (const mode of [0x1000n, 0x11b6n, 0x8000n, 0xc000n, 0x1b6n]) {
        expect([undefined, SECCOMP_RET.ALLOW]).toContain(run(arch, call, ...before, mode));
      }
    }
  });

  it('allows personality only to query, or to set Linux with or without random addresses', () => {
    expect(run(arch, 'personality', 0n)).toBe(SECCOMP_RET.ALLOW);
    expect(run(arch, 'personality', 0xffff_ffffn)).toBe(SECCOMP_RET.ALLOW);
    expect(run(arch, 'personality', 0x0040000n)).toBe(SECCOMP_RET.ALLOW);
    expect(run(arch, 'personality', 0x0440000n)).toBe(errno(EPERM));
    expect(run(arch, 'personality', 8n)).toBe(errno(EPERM));
  });

  it('allows ptrace without the option that holds a process at its exit', () => {
    for (const request of [0n, 16n, 0x4200n, 0x4206n, 21n]) {
      expect(run(arch, 'ptrace', request, 1n, 0n, 0x100011n)).toBe(SECCOMP_RET.ALLOW);
    }
    for (const request of [0x4200n, 0x4206n, 21n, 0x4200n | HIGH]) {
      for (const options of [0x40n, 0x51n, 0x40n | HIGH]) {
        expect(run(arch, 'ptrace', request, 1n, 0n, options)).toBe(errno(EPERM));
      }
    }
  });

  it('has no unreachable instruction', () => {
    const program = assemble(arch);
    const visited = new Set<number>();
    const args = [0n, 1n, 2n, 9n, 10n, 16n, 0x2000n, 0x6000n, 0x5412n, 0x541cn, 0x10000000n, 0xffffffffn];
    for (let nr = 0; nr <= LAST_REVIEWED + 1; nr++) {
      simulate(program, { nr, arch: AUDIT_ARCH[arch], args: [0x4200n, 0n, 0n, 0x40n] }, visited);
      for (const arg of args) {
        simulate(program, { nr, arch: AUDIT_ARCH[arch], args: [arg, arg, arg] }, visited);
        simulate(program, { nr, arch: AUDIT_ARCH[arch], args: [arg, arg, 0n] }, visited);
      }
    }
    simulate(program, { nr: 0x4000_0000, arch: AUDIT_ARCH[arch] }, visited);
    simulate(program, { nr: 0, arch: 0 }, visited);
    expect(program.map((_, index) => index).filter((index) => !visited.has(index))).toEqual([]);
  });

  it('finds the check of a call in few steps: the kernel runs it for every call when it is installed', () => {
    const program = assemble(arch);
    const steps = Array.from({ length: LAST_REVIEWED + 1 }, (_, nr) => {
      const visited = new Set<number>();
      simulate(program, { nr, arch: AUDIT_ARCH[arch] }, visited);
      return visited.size;
    });
    expect(Math.max(...steps)).toBeLessThan(32);
  });

  it("encodes to eight bytes for each instruction, within the kernel's limit", () => {
    const program = assemble(arch);
    expect(encode(program)).toHaveLength(program.length * 8);
    expect(program.length).toBeLessThanOrEqual(4096);
  });
});

it('kills every x32 call', () => {
  for (const nr of [0x4000_0000, 0x4000_0029, 0xffff_ffff]) {
    expect(simulate(assemble('x64'), { nr, arch: AUDIT_ARCH.x64 })).toBe(SECCOMP_RET.KILL_PROCESS);
  }
});

describe('the syscall table', () => {
  /** Older headers lack newer calls; common calls must agree. The fixed sample is for machines without headers. */
  const headers = [
    { column: 0, paths: ['/usr/include/x86_64-linux-gnu/asm/unistd_64.h', '/usr/include/asm/unistd_64.h'] },
    { column: 1, paths: ['/usr/include/asm-generic/unistd.h'] },
  ] as const;

  it.each(headers)('agrees with installed kernel headers (column $column)', ({ column, paths }) => {
    const path = paths.find((each) => existsSync(each));
    const defined = new Map<string, number>();
    for (const [, name, nr] of (path ? readFileSync(path, 'utf8') : '').matchAll(
      /#define __NR(?:3264)?_(\w+)\s+(\d+)/g,
    )) {
      defined.set(name!, Number(nr));
    }
    for (const [name, numbers] of Object.entries(SYSCALLS)) {
      const known = defined.get(name);
      if (known !== undefined) expect(numbers[column], name).toBe(known);
    }
    expect(SYSCALLS.unshare).toEqual([272, 97]);
  });
});
