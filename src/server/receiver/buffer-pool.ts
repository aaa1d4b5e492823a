/** A pool of reused buffers: allocating memory for every request would load the garbage collector. */
export interface BufferPool {
  /**
   * Returns a buffer of at least this many bytes that begins with the first `used` bytes of another one, which is returned to the pool.
   * The remaining bytes are undefined.
   */
  enlarge(from: Buffer | undefined, used: number, bytes: number): Buffer;
  /** Returns a buffer to the pool. It, and views of it, must not be used afterwards. */
  give(buffer: Buffer): void;
}

/** The pooled sizes. A typical delivery fits into the first; larger buffers are rare and left to the garbage collector. */
export const pooledSizes = [16_384, 65_536, 262_144] as const;

/** Maximum total of idle buffers of one size. */
const maxIdleBytes = 4 * 2 ** 20;

/** Creates an empty pool. */
export function createBufferPool(): BufferPool {
  const idle = new Map<number, Buffer[]>(pooledSizes.map((size) => [size, []]));

  const take = (bytes: number): Buffer => {
    const size = pooledSizes.find((each) => each >= bytes) ?? bytes;
    return idle.get(size)?.pop() ?? Buffer.allocUnsafeSlow(size);
  };

  const give = (buffer: Buffer): void => {
    const same = idle.get(buffer.length);
    if (same === undefined) release(buffer);
    else if ((same.length + 1) * buffer.length <= maxIdleBytes) same.push(buffer);
  };

  return {
    enlarge(from, used, bytes) {
      const larger = take(bytes);
      if (from === undefined) return larger;
      from.copy(larger, 0, 0, used);
      give(from);
      return larger;
    },
    give,
  };
}

/**
 * Frees the memory of a buffer immediately: the garbage collector keeps large buffers for seconds. The buffer, and views of
 * it, must not be used afterwards. A buffer that shares its memory with others is left to the garbage collector.
 */
export function release(buffer: Buffer): void {
  const memory = buffer.buffer;
  if (memory instanceof ArrayBuffer && memory.byteLength === buffer.byteLength) memory.transfer(0);
}
