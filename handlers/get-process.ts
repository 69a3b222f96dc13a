import { define } from './define.ts';

export const getProcess = define('GetProcess', {}, ({ request }, { services }) =>
  services.processes.get(request.sandbox_id, request.process_id),
);
