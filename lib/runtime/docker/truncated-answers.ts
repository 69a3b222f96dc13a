import type { ClientRequest, IncomingMessage, Agent as NodeAgent } from 'node:http';

/** Called by node:http for each request of an agent. Not in Node's documentation, but relied on by agent-base. */
interface Agent {
  addRequest?(request: ClientRequest, ...rest: unknown[]): void;
}

/**
 * Makes requests of the agent fail when the connection is closed before the end of the answer: docker-modem waits for
 * the end of a body only, and would never call back. Returns the agent.
 */
export function failOnTruncatedAnswer<A extends NodeAgent>(agent: A & Agent): A {
  const { addRequest } = agent;
  if (addRequest === undefined) return agent;
  agent.addRequest = (request, ...rest) => {
    request.once('response', (response) => response.once('close', () => failIfIncomplete(request, response)));
    addRequest.call(agent, request, ...rest);
  };
  return agent;
}

function failIfIncomplete(request: ClientRequest, response: IncomingMessage): void {
  // Node reports the loss of the connection to the response only. docker-modem listens for errors of the request.
  if (response.complete || request.listenerCount('error') === 0) return;
  request.emit('error', new Error('the connection was closed before the end of the answer'));
}
