/** A time since the epoch (struct timespec; timespec(3type)). */
export interface Time {
  sec: number;
  /** 0 to 999,999,999. */
  nsec: number;
}
