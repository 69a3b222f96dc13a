/** Values of the string fields with a closed set. Each field also accepts the empty string: its default. */

/** `auto_commit`: when changes are committed to the codebase automatically; `on_exec` includes `on_stop`. */
export const AUTO_COMMITS = ['never', 'on_exec', 'on_stop'] as const;
export type AutoCommit = (typeof AUTO_COMMITS)[number];

/** `on_idle`: what happens to a sandbox that was idle for its `idle_timeout`. */
export const ON_IDLE = ['stop', 'destroy'] as const;
export type OnIdle = (typeof ON_IDLE)[number];

/** `on_expire`: what happens to a sandbox at its `expires_at`; see `expire.ts`. */
export const ON_EXPIRE = ['keep_changes', 'stop', 'destroy'] as const;
export type OnExpire = (typeof ON_EXPIRE)[number];

/** `mode` of a network policy: what is allowed that no rule is about. */
export const NETWORK_MODES = ['none', 'allow_list', 'open'] as const;

/** `action` of a network rule; empty: allow. */
export const NETWORK_ACTIONS = ['allow', 'deny'] as const;

/** `tls` of a network rule. */
export const TLS_MODES = ['inspect'] as const;

/** `as`: the identity of a file operation. `agent`: rules and mode bits apply; `owner`: everything is allowed. */
export const ACTORS = ['agent', 'owner'] as const;
export type Actor = (typeof ACTORS)[number];

/** `on_conflict`: the version that Commit takes where the codebase changed too; empty: a conflict fails the commit. */
export const CONFLICT_CHOICES = ['ours', 'theirs'] as const;
export type ConflictChoice = (typeof CONFLICT_CHOICES)[number];

/** `format` of ExportChanges. */
export const CHANGE_FORMATS = ['patch', 'tar'] as const;
export type ChangeFormat = (typeof CHANGE_FORMATS)[number];

/** `mode` of ImportCodebaseFiles: what becomes of files that the archive does not name; empty: `merge`. */
export const IMPORT_MODES = ['replace', 'merge', 'update'] as const;
export type ImportMode = (typeof IMPORT_MODES)[number];

/** `access` of OpenPort: who may use the port; empty: `key`. */
export const PORT_ACCESS = ['key', 'link'] as const;
export type PortAccess = (typeof PORT_ACCESS)[number];

/** `format` of the operations that export or import an archive. */
export const ARCHIVE_FORMATS = ['tar'] as const;
export type ArchiveFormat = (typeof ARCHIVE_FORMATS)[number];

/** Where the value of a secret is; empty: it is a stored one. */
export const SECRET_SOURCES = ['redacted'] as const;
