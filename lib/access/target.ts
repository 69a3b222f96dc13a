import type { Subject } from './need.ts';
import type { Role, Scope } from './principal.ts';

/** What one request is about, as far as the decision depends on it. */
export type Target =
  | { on: 'nothing' }
  | {
      on: 'sandbox' | 'codebase' | 'key' | 'session';
      id: string;
      /** The sandbox of a session. */
      sandbox?: string | undefined;
      /** undefined: it does not exist. */
      owner: string | undefined;
      /** The request asks for the owner's view of files. */
      asOwner: boolean;
      /** Changes are to be committed automatically. */
      commits: boolean;
    }
  | { on: 'owner'; owner_id: string }
  | {
      on: 'new-key';
      role: Role;
      owner_id: string;
      scopes: readonly Scope[];
      /** Unix time in seconds; 0: never. */
      expires_at: number;
    };

/** The owners of what exists; undefined for ids that do not. */
export interface Owners {
  sandbox(id: string): string | undefined;
  codebase(id: string): string | undefined;
  key(id: string): string | undefined;
  /** The sandbox of a session, with its owner; undefined: the session does not exist. */
  session(id: string): { sandbox: string; owner: string } | undefined;
}

/** Reads the target of a validated request. `now`: Unix time in seconds. */
export function targetOf(on: Subject, request: object, owners: Owners, now: number): Target {
  const fields = request as Readonly<Record<string, unknown>>;
  const text = (name: string) => String(fields[name] ?? '');
  switch (on) {
    case 'nothing':
      return { on };
    case 'owner':
      return { on, owner_id: text('owner_id') };
    case 'new-key':
      return {
        on,
        role: text('role') as Role,
        owner_id: text('owner_id'),
        scopes: fields.scopes as readonly Scope[],
        expires_at: fields.expires_in ? now + Number(fields.expires_in) : 0,
      };
    default: {
      const id = text(`${on}_id`);
      const asOwner = text('as') === 'owner';
      const commits = !['', 'never'].includes(text('auto_commit'));
      if (on === 'session') {
        const found = owners.session(id);
        return { on, id, sandbox: found?.sandbox, owner: found?.owner, asOwner, commits };
      }
      return { on, id, owner: owners[on](id), asOwner, commits };
    }
  }
}
