import { invalidArgument } from '../lib/errors.ts';
import { define, newProcess } from './define.ts';

export const startProcess = define('StartProcess', newProcess, ({ request }, { services, signal, guard }) => {
  const { columns, rows } = request.terminal;
  if ((columns === 0) !== (rows === 0)) {
    throw invalidArgument(columns === 0 ? 'terminal.columns' : 'terminal.rows', 'must be between 1 and 1000');
  }
  const terminal = columns === 0 ? undefined : { columns, rows };
  return services.processes.start({ ...request, terminal }, signal, () => guard.keepCommand());
});
