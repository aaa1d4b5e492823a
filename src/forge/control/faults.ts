/** How the API misbehaves for a while. */
type Fault = {
  /** Every answer waits this long first. */
  readonly latencyMs: number;
  /** Answered in place of the operation; undefined: the operation answers, late. */
  readonly status: number | undefined;
  /** Requests that it meets; then all is well again. */
  readonly count: number;
};

/** Faults to come, for trying a client. */
export interface Faults {
  /** Replaces what was put before; a count of 0 makes all well. */
  put(fault: Fault): void;
  /** Takes the fault that meets the next request, if one does. */
  take(): Fault | undefined;
}

/** Creates a place for faults, with none in it. */
export function createFaults(): Faults {
  let fault: Fault | undefined;
  let left = 0;
  return {
    put(given) {
      fault = given;
      left = given.count;
    },
    take() {
      if (left <= 0) return undefined;
      left -= 1;
      return fault;
    },
  };
}
