import { type OwnerBytes, type OwnerShare, ownerRefusal } from '../../owner-quota.ts';

/**
 * The share of a codebase in what its owner may store, as the main thread said last. It refuses early what is too much; the main
 * thread, which knows all codebases of the owner, decides when the head moves.
 */
export class OwnerRoom implements OwnerShare {
  present: OwnerBytes | undefined;

  isLimited(): boolean {
    return this.present !== undefined;
  }

  room(): number {
    return this.present === undefined ? Number.POSITIVE_INFINITY : this.present.limit - this.present.held;
  }

  refusal(bytes: number) {
    return this.present && ownerRefusal(this.present, bytes);
  }

  reserve(): void {}

  release(): void {}
}
