/** Values of the string fields that take one of a few. Each field also takes the empty string: the default. */

/** `auto_commit`: when changes go to the codebase without a Commit; `on_exec` includes `on_stop`. */
export const AUTO_COMMITS = ['never', 'on_exec', 'on_stop'] as const;
export type AutoCommit = (typeof AUTO_COMMITS)[number];

/** `as`: whose view a file operation has. `agent`: rules and mode bits apply; `owner`: everything is allowed. */
export const ACTORS = ['agent', 'owner'] as const;
export type Actor = (typeof ACTORS)[number];

/** `on_conflict`: whose version Commit takes where the codebase changed meanwhile; empty: it commits nothing. */
export const CONFLICT_CHOICES = ['ours', 'theirs'] as const;
export type ConflictChoice = (typeof CONFLICT_CHOICES)[number];

/** `format` of ExportChanges. */
export const CHANGE_FORMATS = ['patch', 'tar'] as const;
export type ChangeFormat = (typeof CHANGE_FORMATS)[number];

/** `format` of ExportFiles and ImportFiles. */
export const ARCHIVE_FORMATS = ['tar'] as const;
export type ArchiveFormat = (typeof ARCHIVE_FORMATS)[number];
