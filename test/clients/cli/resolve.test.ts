import { beforeEach, describe, expect, it } from 'vitest';
import { offsetOfTail } from '../../../clients/cli/src/exec/tail.ts';
import { processOf } from '../../../clients/cli/src/names/processes.ts';
import { sandboxIdOf } from '../../../clients/cli/src/names/sandboxes.ts';
import { PermissionDeniedError } from '../../../clients/typescript/src/errors.ts';
import type { Paddock } from '../../../clients/typescript/src/paddock.ts';

const { signal } = new AbortController();
const FULL = `sb_${'a'.repeat(26)}`;

interface Fake {
  sandboxes: { id: string; labels: Record<string, string> }[];
  processes: Record<string, string[]>;
  /** The only sandbox of an agent's key. */
  agentOf?: string;
}

let fake: Fake;
beforeEach(() => {
  fake = {
    sandboxes: [
      { id: 'sb_1abc', labels: { name: 'web' } },
      { id: 'sb_1abd', labels: {} },
      { id: 'sb_2xyz', labels: { name: 'sb_1abd' } },
      { id: 'sb_3', labels: { name: 'twice' } },
      { id: 'sb_4', labels: { name: 'twice' } },
    ],
    processes: { sb_1abc: ['web', 'web2', 'p-1'], sb_1abd: ['web', 'p-22'], sb_2xyz: [], sb_3: [], sb_4: [] },
  };
});

const paddock = {
  caller: async () => ({ sandboxId: fake.agentOf ?? '' }),
  api: {
    async *listSandboxes() {
      if (fake.agentOf) throw new PermissionDeniedError({ code: 'PERMISSION_DENIED', message: 'no' });
      yield* fake.sandboxes;
    },
    async *listProcesses({ sandboxId }: { sandboxId: string }) {
      for (const processId of fake.processes[sandboxId]!) yield { sandboxId, processId };
    },
  },
} as unknown as Paddock;

describe('a sandbox', () => {
  const found = (given: string) => sandboxIdOf(paddock, given, { signal });

  it('is found by its id, the beginning of it, or its name', async () => {
    expect(await found('sb_1abc')).toBe('sb_1abc');
    expect(await found('web')).toBe('sb_1abc');
    expect(await found('sb_2')).toBe('sb_2xyz');
    expect(await found('2x')).toBe('sb_2xyz');
  });

  it('is not asked for if the id is whole', async () => {
    fake.sandboxes = [];
    expect(await found(FULL)).toBe(FULL);
  });

  it.each([
    ['sb_1ab', /is ambiguous: sb_1abc, sb_1abd/],
    // The id of one is the name of another.
    ['sb_1abd', /is ambiguous: sb_1abd, sb_2xyz/],
    ['twice', /is ambiguous: sb_3, sb_4/],
    ['none', /there is no sandbox "none"/],
    ['', /is empty/],
  ])('%j is refused', async (given, error) => {
    await expect(found(given)).rejects.toThrow(error);
  });

  it("is that of an agent's key, which may not list them", async () => {
    fake.agentOf = 'sb_9';
    expect(await found('sb_')).toBe('sb_9');
    await expect(found('sb_1abc')).rejects.toThrow(/there is no sandbox/);
  });
});

describe('a process', () => {
  const found = async (given: string) => {
    const { sandboxId, id } = await processOf(paddock, given, { signal });
    return `${sandboxId}/${id}`;
  };

  it('is found in its sandbox, or in all of them', async () => {
    expect(await found('web/web')).toBe('sb_1abc/web');
    expect(await found('1abc/p')).toBe('sb_1abc/p-1');
    expect(await found('p-2')).toBe('sb_1abd/p-22');
    expect(await found('web2')).toBe('sb_1abc/web2');
  });

  it.each([
    ['web', /is ambiguous: sb_1abc\/web, sb_1abd\/web$/],
    ['p-', /is ambiguous: sb_1abc\/p-1, sb_1abd\/p-22/],
    ['sb_1abc/we', /is ambiguous/],
    ['sb_1abc/', /is empty/],
    ['nope', /there is no process "nope"/],
  ])('%j is refused', async (given, error) => {
    await expect(found(given)).rejects.toThrow(error);
  });
});

describe('the last lines of an output', () => {
  const tail = (parts: string[], lines: number, first = 0) => {
    let offset = first;
    const output = parts.map((text) => {
      const part = { offset, data: Buffer.from(text), stream: 'stdout' };
      offset += text.length;
      return part;
    });
    const api = {
      getProcess: async () => ({ outputFirst: first, outputNext: offset }),
      readProcessOutput: async ({ offset: at }: { offset: number }) => {
        const part = output.find((each) => each.offset === at)!;
        return { gap: 0, output: [part], next: at + part.data.length };
      },
    };
    return offsetOfTail(api as never, { sandboxId: 's', id: 'p' } as never, lines, { signal });
  };

  it.each([
    [['a\nb\nc\n'], 1, 4],
    [['a\nb\nc'], 1, 4],
    [['a\n', 'b', 'b\nc', '\n'], 2, 2],
    [['a\nb\n'], 9, 0],
    [['a\nb\n'], 0, 4],
    [['\n\n\n'], 2, 1],
    [['abc'], 1, 0],
  ])('of %j, %i', async (parts, lines, at) => {
    expect(await tail(parts, lines)).toBe(at);
    expect(await tail(parts, lines, 100)).toBe(100 + at);
  });
});
