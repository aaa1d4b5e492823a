/** Creates a function that runs work in one of `count` slots, first come, first served. */
export function createSlots(count: number): <T>(work: () => Promise<T>) => Promise<T> {
  let free = count;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      // The slot passes directly to the next waiter, so that no caller overtakes another.
      const next = waiting.shift();
      if (next) next();
      else free += 1;
    }
  };
}

/** Creates a function that runs work with the same key sequentially, and work with different keys concurrently. */
export function createKeyedQueue(): <T>(key: number, work: () => Promise<T>) => Promise<T> {
  const lanes = new Map<number, { run: ReturnType<typeof createSlots>; users: number }>();
  return async (key, work) => {
    const lane = lanes.get(key) ?? { run: createSlots(1), users: 0 };
    lanes.set(key, lane);
    lane.users += 1;
    try {
      return await lane.run(work);
    } finally {
      lane.users -= 1;
      if (lane.users === 0) lanes.delete(key);
    }
  };
}
