import { int64, string, stringMap } from './kinds.ts';

export const execRequest = {
  sandbox_id: string,
  command: string,
  stdin: string,
  env: stringMap,
  workdir: string,
  timeout: int64,
};
