import type { NewProcess } from '../lib/process-services.ts';
import { define, newProcess } from './define.ts';

export const startProcess = define('StartProcess', newProcess, ({ request }, { services, signal, guard }) => {
  const start: NewProcess = { ...request, terminal: request.terminal };
  return services.processes.start(start, signal, () => guard.keepCommand());
});
