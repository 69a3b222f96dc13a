import { expect, it } from 'vitest';
import { listConnections } from '../../handlers/network.ts';
import type { ListConnectionsRequest } from '../../lib/contract/messages.ts';
import { call } from './call.ts';

it('ListConnections passes on the sandbox and the page', async () => {
  const seen: ListConnectionsRequest[] = [];
  const connections = async (request: ListConnectionsRequest) => {
    seen.push(request);
    return { connections: [], next_page_token: 'n' };
  };
  const event = { pathParameters: { sandbox_id: 'sb_1' }, queryStringParameters: { page_token: 't' } };
  expect(await call(listConnections, event, { networks: { connections } })).toEqual({
    connections: [],
    next_page_token: 'n',
  });
  expect(seen).toEqual([{ sandbox_id: 'sb_1', page_size: 100, page_token: 't' }]);
});
