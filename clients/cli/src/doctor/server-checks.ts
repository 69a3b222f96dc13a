import { Paddock, UnauthenticatedError } from 'paddock-sandbox';
import { sentenceOf } from '../command-line/errors.ts';
import type { Check } from './check.ts';

const ANSWER_MS = 5000;

/** What the server says of itself. None is started for it. */
export async function serverChecks(connect: () => Promise<Paddock>): Promise<Check[]> {
  const options = () => ({ signal: AbortSignal.timeout(ANSWER_MS) });
  const found = { name: 'server', required: false };
  try {
    const { settings } = (await connect()).api;
    const paddock = new Paddock({ ...settings, maxRetries: 0 });
    const { status } = await paddock.health(options());
    const state = status === 'ok' ? 'ok' : 'limited';
    return [{ ...found, state, detail: `${settings.url} answers: ${status}` }, await keyCheck(paddock, options())];
  } catch (error) {
    const fix = 'start one by paddock serve, or name one by PADDOCK_URL';
    return [{ ...found, state: 'limited', detail: sentenceOf(error), fix }];
  }
}

async function keyCheck(paddock: Paddock, options: { signal: AbortSignal }): Promise<Check> {
  const found = { name: 'key', required: false };
  try {
    const { role, ownerId, key } = await paddock.caller(options);
    const who = ownerId ? `${role} ${ownerId}` : role;
    return { ...found, state: 'ok', detail: key ? `${who}, ${key.mask}` : `${who}: the server asks for no key` };
  } catch (error) {
    const fix = error instanceof UnauthenticatedError ? 'set PADDOCK_KEY to a key of this server' : undefined;
    return { ...found, state: 'missing', detail: sentenceOf(error), ...(fix && { fix }) };
  }
}
