/** Buffers that are used again: memory that every request allocates anew keeps the garbage collector busy. */
export interface BufferPool {
  /**
   * Returns a buffer of at least so many bytes that begins with the first `used` bytes of another one, which is taken back.
   * What follows them is whatever it held before.
   */
  enlarge(from: Buffer | undefined, used: number, bytes: number): Buffer;
  /** Takes a buffer back. Nothing may use it, or a view of it, afterwards. */
  give(buffer: Buffer): void;
}

/** The sizes that are kept. A usual delivery fits into the first; larger buffers are rare and left to the collector. */
export const pooledSizes = [16_384, 65_536, 262_144] as const;

/** Idle buffers of one size hold at most this much. */
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
 * Frees the memory of a buffer at once: the garbage collector leaves large buffers allocated for seconds. Nothing may use the
 * buffer, or a view of it, afterwards. A buffer that shares its memory with others is left to the collector.
 */
export function release(buffer: Buffer): void {
  const memory = buffer.buffer;
  if (memory instanceof ArrayBuffer && memory.byteLength === buffer.byteLength) memory.transfer(0);
}
