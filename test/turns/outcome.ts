import { CODES, type Code } from '../../lib/errors.ts';

/** How a call ended: `ok`, or a code. With a code, `message` says why. */
export interface Outcome {
  code: 'ok' | Code;
  message?: string;
}

export const OK: Outcome = { code: 'ok' };

/** The outcome of a gRPC status. */
export function ofStatus(status: number | undefined, message: string): Outcome {
  const code = (Object.keys(CODES) as Code[]).find((each) => CODES[each].grpc === status);
  return { code: code ?? 'UNKNOWN', message: message.slice(0, 150) };
}
