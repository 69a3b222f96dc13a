import type { Services } from '../../lib/services.ts';

interface CallContext {
  services: Pick<Services, 'beginCall'> & { sessions?: Pick<Services['sessions'], 'placeOf'> };
  /** See `HandlerContext`. */
  answered?: (release: () => void) => void;
}

/** Runs a call, which counts as use of the sandbox that its request names, itself or by a session, until the response was sent. */
export async function asUse<Result>(
  request: object,
  { services, answered }: CallContext,
  run: () => Result | Promise<Result>,
): Promise<Result> {
  const id = sandboxOf(request, services);
  const end = id === undefined ? undefined : services.beginCall?.(id);
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

function sandboxOf(request: object, { sessions }: CallContext['services']): string | undefined {
  const { sandbox_id, session_id } = request as { sandbox_id?: unknown; session_id?: unknown };
  if (typeof sandbox_id === 'string') return sandbox_id;
  return typeof session_id === 'string' ? sessions?.placeOf(session_id)?.sandbox : undefined;
}
