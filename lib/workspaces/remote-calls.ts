import { type Call, TRAITS } from './calls.ts';

/** Maximum calls of an operation that is to be called again. */
const MAX_CALLS = 100;

/**
 * Adds to single requests to the request worker what the traits of their operation ask for: dirty pages are written back
 * first, the operation is called again, freed disk space is trimmed afterwards.
 */
export function remoteCalls(request: Call, writeBackPages: (id: string) => Promise<void>): Call {
  /** Not awaited by anybody; ends with the attachment. */
  const trim = async (id: string) => {
    try {
      while (await request('trim', [id]));
    } catch {
      // Detached or closed: the rest is freed at the next load.
    }
  };
  return async (operation, args) => {
    const { writeBack, again, trims } = TRAITS[operation];
    if (writeBack?.(...args)) await writeBackPages(args[0] as string);
    let answer = await request(operation, args);
    for (let calls = 1; again?.(answer) && calls < MAX_CALLS; calls++) answer = await request(operation, args);
    if (trims) void trim(trims(...args));
    return answer;
  };
}
