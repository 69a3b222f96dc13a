import type { Services } from '../../lib/services.ts';

interface CallContext {
  services: Pick<Services, 'beginCall'>;
  /** See `HandlerContext`. */
  answered?: (release: () => void) => void;
}

/** Runs a call, which counts as use of the sandbox that its request names until the response was sent. */
export async function asUse<Result>(
  request: object,
  { services, answered }: CallContext,
  run: () => Result | Promise<Result>,
): Promise<Result> {
  const id = (request as { sandbox_id?: unknown }).sandbox_id;
  const end = typeof id === 'string' ? services.beginCall?.(id) : undefined;
  if (end === undefined) return run();
  if (answered) {
    answered(end);
    return run();
  }
  try {
    return await run();
  } finally {
    end();
  }
}
