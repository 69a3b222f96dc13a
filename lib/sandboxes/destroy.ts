import { takeDown } from './bring-up.ts';
import type { SandboxContext } from './context.ts';

/**
 * From every state. The record goes first and durably: from then on it is destroyed, and whatever a crash leaves of
 * it the next start removes.
 */
export function destroySandbox(id: string, context: SandboxContext): Promise<void> {
  return context.change(id, async (sandbox) => {
    sandbox.leaving = true;
    try {
      await context.metadata.sandboxes.remove(id);
    } catch (error) {
      sandbox.leaving = false;
      throw error;
    }
    await takeDown(sandbox, context.platform);
    await context.forget(sandbox);
  });
}
