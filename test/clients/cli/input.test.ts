import { expect, it } from 'vitest';
import { sendInput } from '../../../clients/cli/src/exec/input.ts';
import { ConnectionFailedError, FailedPreconditionError } from '../../../clients/typescript/src/errors.ts';

const target = { sandboxId: 'sb', id: 'p' } as never;
const { signal } = new AbortController();

async function* source(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('abc');
  yield Buffer.from('def');
}

it('repeats what may not have arrived, with its offset, and then closes the input', async () => {
  const calls: unknown[] = [];
  let lost = 1;
  const api = {
    async writeProcessInput({ offset, end }: { offset: number; end: boolean }, bytes: Uint8Array) {
      calls.push([offset, Buffer.from(bytes).toString(), end]);
      if (lost-- > 0) throw new ConnectionFailedError({ message: 'lost' });
    },
  };
  await sendInput(api as never, target, source(), { offset: 10, signal });
  const text = calls.slice(1).map((call) => (call as string[])[1]);
  expect(calls[0]).toEqual(calls[1]);
  expect([text.join(''), calls.at(-1)]).toEqual(['abcdef', [16, '', true]]);
});

it('ends silently when the process reads no more', async () => {
  const api = {
    async writeProcessInput() {
      throw new FailedPreconditionError({ code: 'FAILED_PRECONDITION', message: 'has ended' });
    },
  };
  await sendInput(api as never, target, source(), { signal });
});
