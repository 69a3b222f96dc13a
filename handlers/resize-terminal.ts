import { define } from './define.ts';

const side = { minimum: 1, maximum: 1000 } as const;

export const resizeTerminal = define(
  'ResizeTerminal',
  { columns: side, rows: side },
  async ({ request: { sandbox_id, process_id, columns, rows } }, { services }) => {
    await services.processes.resize(sandbox_id, process_id, { columns, rows });
    return {};
  },
);
