/** One line for each name, number and type of the contract. */
export function renderReleased(contract: { enums: object; messages: object; rpcs: object }): string;
/** Lines of `before` that `after` lacks. */
export function brokenPromises(before: string, after: string): string[];
/** The lines of the operations: what each needs from its caller, what a repeated call does, what it counts as. */
export function renderDecisions(operations: readonly object[]): string;
