import { define, sandboxId } from './define.ts';

export const getSandbox = define(sandboxId, ({ request }, { services }) => services.sandboxes.get(request.sandbox_id));
