/** A secret of a sandbox: what is needed to replace its placeholder. */
export interface BoundSecret {
  name: string;
  placeholder: string;
  value: string;
  hosts: readonly string[];
  in: readonly ('header' | 'query' | 'body')[];
  /** The one header, in lower case, that gets the value; undefined: every header. */
  header?: string | undefined;
}
