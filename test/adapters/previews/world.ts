import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type RequestListener, request, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { openAccess } from '../../../lib/access/no-keys.ts';
import { NO_LIMITS } from '../../../lib/limits/limits.ts';
import { NothingListens } from '../../../lib/network/ports/dialer.ts';
import type { Services } from '../../../lib/services.ts';
import { restOver } from '../clients.ts';
import { fakeServices } from '../fake-services.ts';
import { keyedAccess, keyFor } from '../keyed-services.ts';

const ID = '0123456789abcdefghjkmnpqr';
export const SANDBOX = `sb_${ID}`;
export const TOKEN = 'pdl_AAAAAAAAAAAAAAAAAAAAAA';
const DOMAIN = { name: 'preview.test', scheme: 'http:', port: '' };

async function dial(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect').catch(() => {
    throw new NothingListens(port);
  });
  return socket;
}

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

/** A server of HTTP as the program in the sandbox, and the REST listener with a fake of the opened ports in front of it. */
export async function world(respond: RequestListener, { limits = NO_LIMITS } = {}) {
  const inside: Server = createServer(respond).listen(0, '127.0.0.1');
  await once(inside, 'listening');
  const port = (inside.address() as AddressInfo).port;
  const keys = {
    ann: keyFor({ owner_id: 'ann' }),
    bob: keyFor({ owner_id: 'bob' }),
    agent: keyFor({ role: 'agent', owner_id: 'ann', sandbox_id: SANDBOX }),
    other: keyFor({ role: 'agent', owner_id: 'ann', sandbox_id: 'sb_other' }),
    reader: keyFor({ owner_id: 'ann', scopes: ['files:read'] }),
  };
  const sandboxes = { [SANDBOX]: 'ann', sb_other: 'ann' };
  const withKeys = keyedAccess(Object.values(keys), { sandboxes }, { perKey: limits });
  const state = { cuts: 0 };
  const cuts = new Set<(reason: never) => void>();
  let calls = 0;
  const ports: Partial<Services['ports']> = {
    find: (sandboxId, number) => {
      if (sandboxId !== SANDBOX || (number !== port && number !== 9)) return undefined;
      return {
        expires_at: 0,
        holder: {
          role: 'agent',
          owner_id: 'ann',
          sandbox_id: SANDBOX,
          scopes: ['exec'],
          expires_at: 0,
          key_id: 'link',
        },
        accepts: (token) => token === TOKEN && number === port,
        use: (cut) => {
          cuts.add(cut);
          return {
            end: () => cuts.delete(cut),
            connect: () => dial(number),
            route: () => ({ name: `${number} ${state.cuts}`, connect: () => dial(number) }),
          };
        },
      };
    },
  };
  const services = (access: Services['access']): Services => ({
    ...fakeServices({ access, ports }),
    beginCall: () => {
      calls++;
      return () => calls--;
    },
  });
  const rest = await restOver(services(withKeys.access), undefined, { previewDomain: DOMAIN });
  const open = await restOver(services(openAccess), undefined, { previewDomain: DOMAIN });
  const path = `/v1/sandboxes/${SANDBOX}/ports/${port}/proxy`;
  const host = `p${port}-${ID}.preview.test`;

  /** `headers.host`: that of the port, to ask by host name. */
  function ask(
    url: string,
    headers: Record<string, string> = {},
    { method = 'GET', body, to = rest }: { method?: string; body?: string | Buffer; to?: typeof rest } = {},
  ): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const sent = request({ port: to.port, host: '127.0.0.1', method, path: url, headers, agent: false });
      sent.on('error', reject);
      sent.on('response', async (answer) => {
        let text = '';
        try {
          for await (const piece of answer.setEncoding('latin1')) text += piece;
          resolve({ status: answer.statusCode!, headers: answer.headers, text });
        } catch (error) {
          reject(error);
        }
      });
      sent.end(body);
    });
  }

  return {
    state,
    inside,
    port,
    path,
    host,
    rest,
    open,
    cuts,
    ask,
    uses: () => calls,
    key: (name: keyof typeof keys) => ({ authorization: `Bearer ${keys[name].text}` }),
    ticket: (path: string) => withKeys.keys.createTicket(path, { key_id: keys.agent.record.id } as never).ticket,
    link: (query = '') => `?paddock_token=${TOKEN}${query}`,
    async close() {
      inside.closeAllConnections();
      inside.close();
      await rest.close();
      await open.close();
    },
  };
}
