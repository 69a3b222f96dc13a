import { define, labels, page } from './define.ts';

export const listProcesses = define('ListProcesses', { ...page, labels }, ({ request }, { services }) =>
  services.processes.list(request),
);
