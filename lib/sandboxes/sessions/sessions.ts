import type {
  CreateSessionRequest,
  ListSessionsRequest,
  Session,
  SessionExecRequest,
} from '../../contract/messages.ts';
import { newId } from '../../ids.ts';
import { newestPage, scopeOf } from '../../paging.ts';
import type { SessionExecution, Sessions } from '../../session-services.ts';
import type { SandboxContext } from '../context.ts';
import { withDefaults } from '../exec/defaults.ts';
import { committing, runnable } from '../exec/exec.ts';
import { timeoutOf } from '../exec/timeout.ts';
import { withDenied } from '../network/with-denied.ts';
import { LiveSession } from './live-session.ts';

/** All operations on sessions. */
export function createSessions(context: SandboxContext): Sessions {
  const { sessions } = context;
  return {
    create: (request, signal) => createSession(request, signal, context),
    get: (id) => sessions.find(id).view(),
    list: (request) => listSessions(request, context),
    destroy: async (id) => {
      const session = sessions.find(id);
      await session.close('it was destroyed');
      sessions.forget(session);
    },
    exec: (request, signal) => execInSession(request, signal, context),
    placeOf: (id) => {
      const session = sessions.get(id);
      return session && { sandbox: session.sandboxId, owner: session.ownerId };
    },
  };
}

async function createSession(
  { sandbox_id, shell, env }: CreateSessionRequest,
  signal: AbortSignal,
  context: SandboxContext,
): Promise<Session> {
  const sandbox = await runnable(sandbox_id, signal, context);
  const { running } = sandbox;
  if (!running) throw sandbox.refuse();
  const { sessions, clock } = context;
  const session = await sessions.creating(sandbox_id, async () => {
    const around = withDefaults({ shell, env, workdir: '' }, sandbox.record);
    const opened = await running.openShell({ ...around, signal });
    const parts = {
      id: newId('se', clock.now()),
      sandboxId: sandbox_id,
      ownerId: sandbox.record.owner_id,
      running,
      around,
      now: () => Math.floor(clock.now() / 1000),
      onClosed: (closed: LiveSession) => sessions.closed(closed),
    };
    return new LiveSession(parts, opened);
  });
  return session.view();
}

function listSessions(
  { sandbox_id, page_size, page_token }: ListSessionsRequest,
  context: SandboxContext,
): { sessions: Session[]; next_page_token: string } {
  context.find(sandbox_id);
  const { items, next_page_token } = newestPage(
    scopeOf('sessions', [sandbox_id]),
    (before) => context.sessions.newestFirst(sandbox_id, before),
    () => true,
    { page_size, page_token },
    (session) => session.view(),
  );
  return { sessions: items, next_page_token };
}

async function execInSession(
  { session_id, command, timeout, merge }: SessionExecRequest,
  signal: AbortSignal,
  context: SandboxContext,
): Promise<SessionExecution> {
  const timeoutMs = timeoutOf({ timeout }, context.settings);
  const session = context.sessions.find(session_id);
  session.requireActive();
  const ready = runnable(session.sandboxId, signal, context);
  const sandbox = ready instanceof Promise ? await ready : ready;
  const startedAt = Date.now();
  const execution = await session.exec({ command, merge, timeoutMs, signal });
  const events = withDenied(execution.events, sandbox, startedAt);
  if (sandbox.record.auto_commit !== 'on_exec') return { ...execution, events };
  return { ...execution, events: committing(events, sandbox.id, context) };
}
