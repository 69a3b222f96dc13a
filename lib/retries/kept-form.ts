import type { CreatedKey } from '../contract/messages.ts';

/** What is kept of an answer. The secret of a new key is not stored anywhere. */
export function keptForm(operation: string, answer: unknown): unknown {
  if (operation !== 'CreateKey') return answer;
  const { key } = answer as Required<CreatedKey>;
  const notice =
    'The secret was in the first answer only and is not kept; revoke this key, and create another with a new idempotency key.';
  return { key, secret: '', notice } satisfies CreatedKey;
}
