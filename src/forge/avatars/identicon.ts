import { createHash } from 'node:crypto';
import { crc32, deflateSync } from 'node:zlib';

const cells = 5;
const cellSize = 40;
const margin = 20;
const size = cells * cellSize + 2 * margin;

/** Dark enough to be seen on the light ground, and on a dark page around it. */
const colours: readonly number[] = [
  0x1f6feb, 0x8250df, 0xbf3989, 0xcf222e, 0xbc4c00, 0x9a6700, 0x1a7f37, 0x0a7e8c, 0x57606a, 0x6639ba,
];
const ground = 0xf6f8fa;

/** Returns the PNG of a symmetric pattern: for equal texts the same, for different texts most likely another. */
export function drawIdenticon(seed: string): Buffer {
  const digest = createHash('sha256').update(seed).digest();
  const colour = colours[digest.readUInt16BE(0) % colours.length] ?? ground;
  const isFilled = (row: number, column: number): boolean => {
    const mirrored = Math.min(column, cells - 1 - column);
    return ((digest[2 + row * 3 + mirrored] ?? 0) & 1) === 1;
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(size, 0);
  header.writeUInt32BE(size, 4);
  // One bit for each pixel, an index of the palette; no other compression, filter or interlacing than the default.
  header.set([1, 3, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    chunk('PLTE', Buffer.from([...bytesOf(ground), ...bytesOf(colour)])),
    chunk('IDAT', deflateSync(pixelsOf(isFilled))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function bytesOf(colour: number): number[] {
  return [colour >> 16, (colour >> 8) & 0xff, colour & 0xff];
}

function pixelsOf(isFilled: (row: number, column: number) => boolean): Buffer {
  // Each line begins with the number of its filter.
  const stride = 1 + size / 8;
  const lines = Buffer.alloc(size * stride);
  const cellOf = (pixel: number) => Math.floor((pixel - margin) / cellSize);
  for (let y = margin; y < size - margin; y += 1) {
    for (let x = margin; x < size - margin; x += 1) {
      if (!isFilled(cellOf(y), cellOf(x))) continue;
      const at = y * stride + 1 + (x >> 3);
      lines[at] = (lines[at] ?? 0) | (0x80 >> (x & 7));
    }
  }
  return lines;
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}
