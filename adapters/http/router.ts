import type { Operation } from '../../handlers/index.ts';
import { ServiceError } from '../../lib/errors.ts';

export interface Target {
  /** Exactly as sent: percent escapes not decoded, dot segments not removed. */
  path: string;
  query: string;
}

export interface Match {
  operation: Operation;
  pathParameters: Record<string, string>;
}

interface Route {
  operation: Operation;
  segments: readonly string[];
  /** Name of the parameter that matches the rest of the path. */
  rest: string | undefined;
}

const ORIGIN = /^https?:\/\/([^/?#]*)/i;

/** `host[:port]` of a request target in absolute form (RFC 9112 section 3.2.2), which clients of a proxy send. */
export function authorityOf(raw: string): string | undefined {
  return raw.startsWith('/') ? undefined : ORIGIN.exec(raw)?.[1];
}

/** Splits a request target. The URL parser would remove `..` segments before lib could refuse them. */
export function parseTarget(raw: string): Target {
  const path = raw.startsWith('/') ? raw : raw.replace(ORIGIN, '');
  const question = path.indexOf('?');
  return question < 0 ? { path, query: '' } : { path: path.slice(0, question), query: path.slice(question + 1) };
}

export class Router {
  readonly #routes: readonly Route[];

  constructor(operations: readonly Operation[]) {
    // A route that needs a parameter of the query precedes the same path without it.
    const needsQuery = ({ query }: Operation) => Number(query !== undefined);
    const ordered = operations.toSorted((a, b) => needsQuery(b) - needsQuery(a));
    this.#routes = ordered.map((operation) => {
      const segments = operation.path.split('/');
      const rest = /^\{(\w+)\+\}$/.exec(segments.at(-1) ?? '')?.[1];
      return { operation, segments: rest ? segments.slice(0, -1) : segments, rest };
    });
  }

  /** Whether the path and method are those of an operation of the kind, whatever the query. */
  has(kind: Operation['kind'], method: string, path: string): boolean {
    const segments = path.split('/');
    return this.#routes.some(
      (route) => route.operation.kind === kind && route.operation.method === method && fits(route, segments),
    );
  }

  /** The matching operation, or the methods allowed for this path (empty if the path does not exist). */
  find(method: string, path: string, query = ''): Match | { allow: string[] } {
    const segments = path.split('/');
    const parameters = new URLSearchParams(query);
    const allow: string[] = [];
    for (const route of this.#routes) {
      if (!fits(route, segments)) continue;
      if (route.operation.query !== undefined && !parameters.has(route.operation.query)) continue;
      if (route.operation.method === method) {
        return { operation: route.operation, pathParameters: parametersOf(route, segments) };
      }
      allow.push(route.operation.method);
    }
    return { allow };
  }
}

function fits(route: Route, segments: readonly string[]): boolean {
  if (route.rest ? segments.length <= route.segments.length : segments.length !== route.segments.length) return false;
  return route.segments.every((each, index) =>
    each.startsWith('{') ? segments[index] !== '' : each === segments[index],
  );
}

function parametersOf(route: Route, segments: readonly string[]): Record<string, string> {
  const parameters: Record<string, string> = {};
  for (const [index, each] of route.segments.entries()) {
    if (each.startsWith('{')) parameters[each.slice(1, -1)] = decode(segments[index]!);
  }
  if (route.rest) parameters[route.rest] = segments.slice(route.segments.length).map(decode).join('/');
  return parameters;
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new ServiceError('INVALID_ARGUMENT', 'the path has a percent escape that is not UTF-8');
  }
}
