/** Buffers that are used again: memory that every request allocates anew keeps the garbage collector busy. */
export interface BufferPool {
  /** Returns a buffer of at least so many bytes, with whatever it held before. */
  take(bytes: number): Buffer;
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
  return {
    take(bytes) {
      const size = pooledSizes.find((each) => each >= bytes) ?? bytes;
      return idle.get(size)?.pop() ?? Buffer.allocUnsafeSlow(size);
    },
    give(buffer) {
      const same = idle.get(buffer.length);
      if (same !== undefined && (same.length + 1) * buffer.length <= maxIdleBytes) same.push(buffer);
    },
  };
}
