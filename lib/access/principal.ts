/** Roles of keys, the most powerful first. */
export const ROLES = ['admin', 'owner', 'agent'] as const;
export type Role = (typeof ROLES)[number];

/** What the scopes of a key allow. A key without scopes is not restricted beyond its role. */
export const SCOPES = [
  'sandboxes:read',
  'sandboxes:write',
  'exec',
  'files:read',
  'files:write',
  'changes:commit',
  'permissions:write',
  'codebases:read',
  'codebases:write',
  'images:read',
  'images:write',
  'secrets:read',
  'secrets:write',
  'keys:write',
  'owners:write',
] as const;
export type Scope = (typeof SCOPES)[number];

/** The authenticated caller of an operation. */
export interface Principal {
  role: Role;
  /** The owner whose sandboxes, codebases and keys it may use. Empty: an admin. */
  owner_id: string;
  /** The only sandbox of an agent; otherwise empty. */
  sandbox_id: string;
  /** Empty: all that the role may do. */
  scopes: readonly Scope[];
  /** Unix time in seconds; 0: never. */
  expires_at: number;
  /** Empty: authentication is off. */
  key_id: string;
}

/** Every caller of a server without authentication. */
export const ANYONE: Principal = Object.freeze({
  role: 'admin',
  owner_id: '',
  sandbox_id: '',
  scopes: [],
  expires_at: 0,
  key_id: '',
});
