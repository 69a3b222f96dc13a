import type {
  CommitRequest,
  CreateSandboxRequest,
  ForkRequest,
  UpdatePermissionsRequest,
  UpdateSandboxRequest,
} from './contract/messages.ts';
import type { AutoCommit, ConflictChoice, OnExpire, OnIdle } from './field-values.ts';

/** The intent of the request, if it has an idempotency key. What it creates is recorded with it; see `Retries`. */
export interface WithIntent {
  intent?: string | undefined;
}

/**
 * A request type with narrower types for the fields that its handler has validated, and without the bytes of a stream.
 */
export type Narrowed<Request, Fields> = Omit<Request, keyof Fields | 'chunk'> & Fields;

interface Policies {
  auto_commit: AutoCommit | '';
  on_idle: OnIdle | '';
}

/** A request whose fields of these names may be left out by callers in this process. */
type Optionally<Request, Names extends keyof Request> = Omit<Request, Names> & {
  [Name in Names]?: Request[Name] | undefined;
};

export type NewSandbox = Optionally<
  Narrowed<CreateSandboxRequest, Policies & { on_expire: OnExpire | '' }>,
  'rules' | 'network' | 'secrets' | 'read_only_paths' | 'workspace_path' | 'validate_only'
> &
  WithIntent;
export type NewForks = Optionally<
  Narrowed<ForkRequest, Policies & { on_expire?: OnExpire | '' }>,
  'rules' | 'network' | 'secrets'
> &
  WithIntent;
export type NewRules = Optionally<UpdatePermissionsRequest, 'rules'>;
export type SandboxUpdate = Narrowed<UpdateSandboxRequest, { on_idle?: OnIdle | ''; on_expire?: OnExpire | '' }>;
export type CommitChanges = Optionally<
  Narrowed<CommitRequest, { on_conflict: ConflictChoice | '' }>,
  'exclude' | 'include_scratch' | 'hunks'
> &
  WithIntent;

/** Which of the changes of a sandbox a request is about; the fields of the same names in requests. */
export interface ChangeChoice {
  paths?: readonly string[] | undefined;
  exclude?: readonly string[] | undefined;
  include_scratch?: boolean | undefined;
}
