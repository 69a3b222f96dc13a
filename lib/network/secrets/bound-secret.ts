/** A secret of a sandbox: what is needed to replace its placeholder. */
export interface BoundSecret {
  name: string;
  placeholder: string;
  value: string;
  hosts: readonly string[];
  in: readonly ('header' | 'query' | 'body')[];
}
