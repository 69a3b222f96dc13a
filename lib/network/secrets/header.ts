import { NOT_PASSED } from '../inspection/messages.ts';

/** Headers that no value can be sent in: the proxy checks, makes or leaves them out itself. */
const OF_PROXY = [...NOT_PASSED, 'host', 'content-length', 'accept-encoding'];

/** The source of the regular expression of the header of a secret: a token (RFC 9110, 5.6.2) in lower case. */
export const SECRET_HEADER = `(?!(?:${OF_PROXY.join('|')})$)[a-z0-9!#$%&'*+.^_\`|~-]{1,64}`;
