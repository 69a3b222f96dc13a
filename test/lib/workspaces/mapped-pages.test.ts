import { expect, it } from 'vitest';
import { MappedPages, type MappedPagesOptions } from '../../../lib/workspaces/mapped-pages.ts';

const FILES = new Map([['7', '/proc/2/map_files/1-2']]);

function pages(options: Partial<MappedPagesOptions>): { flush(id: string): Promise<void>; calls: string[] } {
  const calls: string[] = [];
  const made = new MappedPages({
    mapped: async (id) => {
      calls.push(`look ${id}`);
      return options.mapped ? options.mapped(id) : new Map();
    },
    flusher: {
      flush: async (paths) => {
        calls.push(`flush ${[...paths].join()}`);
        return options.flusher ? options.flusher.flush(paths) : true;
      },
    },
    flushAll: async () => void calls.push('all'),
  });
  return { flush: (id) => made.flush(id), calls };
}

it('writes back nothing where no file is mapped, and otherwise these files', async () => {
  const { flush, calls } = pages({ mapped: async (id) => (id === 'mapped' ? FILES : new Map()) });
  await flush('none');
  await flush('mapped');
  expect(calls).toEqual(['look none', 'look mapped', 'flush /proc/2/map_files/1-2']);
});

it('looks again if a mapping was removed meanwhile, and writes back everything where it cannot find them', async () => {
  let failures = 1;
  const once = pages({ mapped: async () => FILES, flusher: { flush: async () => failures-- === 0 } });
  await once.flush('sb');
  expect(once.calls.filter((call) => call === 'look sb')).toHaveLength(2);
  expect(once.calls).not.toContain('all');
  const never = pages({ mapped: async () => FILES, flusher: { flush: async () => false } });
  await never.flush('sb');
  expect(never.calls.at(-1)).toBe('all');
  const killed = pages({ mapped: async () => FILES, flusher: { flush: async () => undefined } });
  await killed.flush('sb');
  expect(killed.calls).toEqual(['look sb', 'flush /proc/2/map_files/1-2', 'all']);
  const unknown = pages({ mapped: async () => undefined });
  await unknown.flush('sb');
  expect(unknown.calls).toEqual(['look sb', 'all']);
});

it('shares a look that has not begun, and none that has', async () => {
  const answers: (() => void)[] = [];
  const { flush, calls } = pages({ mapped: () => new Promise((resolve) => answers.push(() => resolve(new Map()))) });
  const first = flush('sb');
  await expect.poll(() => answers.length).toBe(1);
  const others = [flush('sb'), flush('sb')];
  answers.shift()!();
  await first;
  await expect.poll(() => answers.length).toBe(1);
  answers.shift()!();
  await Promise.all(others);
  expect(calls).toEqual(['look sb', 'look sb']);
});

it('waits for no other workspace, and goes on after a failure', async () => {
  let fails = true;
  const { flush } = pages({
    mapped: (id) => {
      if (id === 'stuck') return new Promise(() => {});
      return fails ? Promise.reject(new Error('no')) : Promise.resolve(new Map());
    },
  });
  void flush('stuck');
  await expect(flush('sb')).rejects.toThrow('no');
  fails = false;
  await flush('sb');
});
