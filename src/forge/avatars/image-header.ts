import { crc32 } from 'node:zlib';

/** Kind and size of an image, as its first bytes tell them. */
export type ImageHeader = {
  readonly type: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';
  readonly width: number;
  readonly height: number;
};

/** Returns kind and size of an image; undefined for bytes that are no PNG, JPEG, GIF or WebP. Reads no pixels. */
export function readImageHeader(bytes: Buffer): ImageHeader | undefined {
  const header = readPng(bytes) ?? readGif(bytes) ?? readWebp(bytes) ?? readJpeg(bytes);
  return header && header.width > 0 && header.height > 0 ? header : undefined;
}

function startsWith(bytes: Buffer, text: string, at = 0): boolean {
  return bytes.toString('latin1', at, at + text.length) === text;
}

/** Source: PNG specification, sections 5.2 and 11.2.2. */
function readPng(bytes: Buffer): ImageHeader | undefined {
  if (bytes.length < 33 || !startsWith(bytes, '\x89PNG\r\n\x1a\n')) return undefined;
  if (bytes.readUInt32BE(8) !== 13 || !startsWith(bytes, 'IHDR', 12)) return undefined;
  if (crc32(bytes.subarray(12, 29)) !== bytes.readUInt32BE(29)) return undefined;
  return { type: 'image/png', width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

function readGif(bytes: Buffer): ImageHeader | undefined {
  if (bytes.length < 13 || !(startsWith(bytes, 'GIF87a') || startsWith(bytes, 'GIF89a'))) return undefined;
  return { type: 'image/gif', width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
}

/** The three forms of WebP. Source: RFC 9649, sections 2.5 to 2.7. */
function readWebp(bytes: Buffer): ImageHeader | undefined {
  if (bytes.length < 30 || !startsWith(bytes, 'RIFF') || !startsWith(bytes, 'WEBP', 8)) return undefined;
  const type = 'image/webp';
  if (startsWith(bytes, 'VP8X', 12))
    return { type, width: 1 + bytes.readUIntLE(24, 3), height: 1 + bytes.readUIntLE(27, 3) };
  if (startsWith(bytes, 'VP8L', 12)) {
    if (bytes[20] !== 0x2f) return undefined;
    const bits = bytes.readUInt32LE(21);
    return { type, width: 1 + (bits & 0x3fff), height: 1 + ((bits >>> 14) & 0x3fff) };
  }
  if (!startsWith(bytes, 'VP8 ', 12) || !startsWith(bytes, '\x9d\x01\x2a', 23)) return undefined;
  return { type, width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
}

/** Markers that no length follows: the start of the image, restarts, and a temporary one. */
const isBare = (marker: number) => marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8);
/** Starts of a frame that decoders of browsers read: baseline, extended, progressive. */
const isFrame = (marker: number) => marker >= 0xc0 && marker <= 0xc2;

/** Walks the segments up to the start of the frame. Source: ITU T.81, annex B. */
function readJpeg(bytes: Buffer): ImageHeader | undefined {
  if (!startsWith(bytes, '\xff\xd8\xff')) return undefined;
  let at = 2;
  while (at + 9 < bytes.length && bytes[at] === 0xff) {
    const marker = bytes[at + 1] ?? 0;
    if (isFrame(marker))
      return { type: 'image/jpeg', height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
    // 0xFF before a marker is filling; pixels begin with 0xDA.
    if (marker === 0xff) at += 1;
    else if (isBare(marker)) at += 2;
    else if (marker === 0xda || marker === 0xd9) return undefined;
    else at += 2 + Math.max(2, bytes.readUInt16BE(at + 2));
  }
  return undefined;
}
