import type { MessageTypeDefinition } from '@grpc/proto-loader';
import { expect, it } from 'vitest';
import { protos } from '../../adapters/grpc/protos.ts';
import { statusOf } from '../../adapters/grpc/status.ts';
import { errorBody } from '../../adapters/http/answer.ts';
import { missing, notFound } from '../../lib/not-found.ts';

const decode = (name: string, bytes: unknown) =>
  (protos[name] as MessageTypeDefinition<object, object>).deserialize(bytes as Buffer) as never;

it('an error says what does not exist, over both protocols', () => {
  const error = notFound('sandbox', 'sb_1');
  const type = 'type.googleapis.com/google.rpc.ResourceInfo';
  expect(errorBody(error).details).toEqual([{ '@type': type, resourceType: 'sandbox', resourceName: 'sb_1' }]);
  const [bytes] = statusOf(error).metadata?.get('grpc-status-details-bin') ?? [];
  const { details } = decode('google.rpc.Status', bytes) as { details: { type_url: string; value: Buffer }[] };
  expect(details.map(({ type_url }) => type_url)).toEqual([type]);
  const info = decode('google.rpc.ResourceInfo', details[0]!.value);
  expect(info).toEqual({ resource_type: 'sandbox', resource_name: 'sb_1' });
});

it('a name in the details has no secret of a key, and no half of a surrogate pair', () => {
  const nameOf = (name: string) => (missing('file', name, 'text').details[0] as { resourceName: string }).resourceName;
  const key = `pdk_01234567_${'s'.repeat(43)}`;
  expect(nameOf(key)).toBe('pdk_01234567_…');
  expect(nameOf(`${'a'.repeat(180)}/${key}`)).not.toContain('sss');
  expect(nameOf(`${'a'.repeat(199)}\u{1F600}`)).toBe(`${'a'.repeat(199)}\uFFFD`);
});
