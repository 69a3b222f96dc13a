/** What one check found. "limited": it works, with less. */
export interface Check {
  name: string;
  state: 'ok' | 'limited' | 'missing';
  /** Without it a server on this machine does not work. */
  required: boolean;
  detail: string;
  /** What to do. */
  fix?: string;
}
