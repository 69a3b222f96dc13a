import type { Role, Scope } from './principal.ts';

/**
 * What an operation needs from its caller: the least powerful role that may call it, the scope that a key with scopes
 * must have, and the field of the request that decides whose data it uses.
 */
export type Need = { role: 'public' } | { role: Role; scope?: Scope; on: Subject };

/**
 * - `nothing`: no owner's data
 * - `sandbox`, `codebase`, `key`: the one that `sandbox_id`, `codebase_id` or `key_id` names
 * - `session`: the sandbox of the session that `session_id` names
 * - `owner`: the data of `owner_id`, as a filter of a list or as the owner of a new codebase
 * - `new-key`: a new key with the rights that the request describes
 */
export type Subject = 'nothing' | 'sandbox' | 'codebase' | 'key' | 'session' | 'owner' | 'new-key';
