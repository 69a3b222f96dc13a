import type { DeniedHost } from 'paddock-sandbox';
import { printableName } from '../output/printable.ts';

const MOST_NAMED = 3;
/** The threat: the program in the sandbox chooses the name, and the user copies the line into a shell. */
const PLAIN = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/** What to say of hosts that a command was refused: one line. `sandboxId`: undefined if the sandbox ends with the command. */
export function refusedText(sandboxId: string | undefined, hosts: readonly DeniedHost[]): string {
  const last = hosts.slice(-MOST_NAMED);
  const placeOf = ({ host, port }: DeniedHost) => (port === 0 ? host : `${host}:${port}`);
  const named = last.map((each) => `${printableName(placeOf(each))} (${each.code})`).join(', ');
  const more = hosts.length > last.length ? ` and ${hosts.length - last.length} more` : '';
  const allowable = last.filter(({ code, host }) => code === 'not_allowed' && PLAIN.test(host)).map(placeOf);
  const wanted = [...new Set(allowable.map((place) => place.replace(/:(80|443)$/, '')))];
  const how =
    sandboxId === undefined
      ? wanted.map((each) => `--allow ${each}`)
      : [`paddock network allow ${sandboxId}`, ...wanted];
  const advice = wanted.length === 0 ? '' : `; to allow: ${how.join(' ')}`;
  return `paddock: refused by the network policy: ${named}${more}${advice}`;
}
