import type { ArgTest } from '../seccomp/policy.ts';

/** `(argument & mask) === value` on the low 32 bits: the only masked comparison in Docker's profiles. */
interface MaskedEqual {
  mask: number;
  value: number;
}

/** All comparisons hold, each on a different argument. */
type Conjunction = ReadonlyMap<number, MaskedEqual>;

/** At least one conjunction holds. An empty list never holds; an empty conjunction always does. */
export type Condition = readonly Conjunction[];

export const ALWAYS: Condition = [new Map()];

const ALL_BITS = 0xffff_ffff;

/** The condition under which the test holds, as alternatives of masked comparisons. */
export function whereTest({ arg, mask = ALL_BITS, values, when }: ArgTest): Condition {
  const blocks = when === 'in' ? values.map((value) => ({ mask, value })) : complement(mask, values);
  return blocks.map((block) => new Map([[arg, unsigned(block)]]));
}

/** The test that holds where this one does not. */
export function negated(test: ArgTest): ArgTest {
  return { ...test, when: test.when === 'in' ? 'not-in' : 'in' };
}

/** The condition under which both hold; alternatives that contradict each other are dropped. */
export function and(left: Condition, right: Condition): Condition {
  return left.flatMap((a) => right.map((b) => intersection(a, b)).filter((both) => both !== undefined));
}

function intersection(a: Conjunction, b: Conjunction): Conjunction | undefined {
  const both = new Map(a);
  for (const [arg, block] of b) {
    const other = both.get(arg);
    if (other && (other.value ^ block.value) & other.mask & block.mask) return undefined;
    both.set(arg, other ? unsigned({ mask: other.mask | block.mask, value: other.value | block.value }) : block);
  }
  return both;
}

/**
 * The complement of `values` under `mask` as disjoint blocks: from the highest bit of the mask down, the side of each
 * bit without any value is one block.
 */
function complement(mask: number, values: readonly number[]): MaskedEqual[] {
  const blocks: MaskedEqual[] = [];
  const split = (bit: number, prefix: MaskedEqual, within: readonly number[]): void => {
    if (within.length === 0) {
      blocks.push(prefix);
      return;
    }
    while (bit >= 0 && !(mask & (1 << bit))) bit--;
    if (bit < 0) return;
    for (const side of [0, 1 << bit]) {
      const half = { mask: prefix.mask | (1 << bit), value: prefix.value | side };
      split(
        bit - 1,
        half,
        within.filter((value) => (value & (1 << bit)) === side),
      );
    }
  };
  split(31, { mask: 0, value: 0 }, values);
  return blocks;
}

function unsigned({ mask, value }: MaskedEqual): MaskedEqual {
  return { mask: mask >>> 0, value: value >>> 0 };
}
