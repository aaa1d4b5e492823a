/** Thrown where text or bytes are not what OpenPGP says, or of a kind that is not accepted. */
export class OpenPgpError extends Error {}

/** One packet: what it is, and its bytes without the header. */
export type Packet = { readonly tag: number; readonly body: Buffer };

/** Numbers of the kinds of packets; `signed` is a signature. */
export const packetTags = {
  signed: 2,
  secretKey: 5,
  publicKey: 6,
  secretSubkey: 7,
  userId: 13,
  subkey: 14,
};

/** Far above any key with hundreds of signatures. */
const maxArmorBytes = 512 * 1024;

/**
 * Returns the bytes in the first armored block of a kind (`PUBLIC KEY BLOCK`, `SIGNATURE`). The checksum is not looked at, as
 * RFC 9580, section 6.1, asks for. Throws `OpenPgpError` if there is no such block.
 */
export function readArmor(text: string, kind: string): Buffer {
  if (Buffer.byteLength(text) > maxArmorBytes) throw new OpenPgpError('openpgp: armored text is too long');
  const lines = text.split(/\r?\n/).map((line) => line.trimEnd());
  const start = lines.indexOf(`-----BEGIN PGP ${kind}-----`);
  const end = lines.indexOf(`-----END PGP ${kind}-----`, start);
  if (start < 0 || end < 0) throw new OpenPgpError(`openpgp: no armored ${kind.toLowerCase()} found`);
  const gap = lines.indexOf('', start);
  // Headers end with an empty line, which is there without headers as well.
  const first = gap > start && gap < end ? gap + 1 : start + 1;
  const base64 = lines
    .slice(first, end)
    .filter((line) => !/^=[A-Za-z0-9+/]{4}$/.test(line))
    .join('');
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(base64) || base64.length % 4 !== 0)
    throw new OpenPgpError('openpgp: illegal base64 data');
  return Buffer.from(base64, 'base64');
}

/** Reads fields one after the other. Throws `OpenPgpError` where bytes are missing. */
export function createFieldReader(bytes: Buffer) {
  let at = 0;
  function take(length: number): Buffer {
    if (bytes.length - at < length) throw new OpenPgpError('openpgp: unexpected end of data');
    at += length;
    return bytes.subarray(at - length, at);
  }
  const number = (length: number) => take(length).readUIntBE(0, length);
  return {
    take,
    number,
    /** A number of any size, with its length in bits before it. */
    integer: () => take(Math.ceil(number(2) / 8)),
    rest: () => take(bytes.length - at),
    hasMore: () => at < bytes.length,
  };
}

export type FieldReader = ReturnType<typeof createFieldReader>;

/** The old form of a header; the length of a packet that goes to the end of the data is not accepted. */
function oldLength(reader: FieldReader, kind: number): number {
  if (kind === 3) throw new OpenPgpError('openpgp: packet of unknown length');
  return reader.number(2 ** kind);
}

function newLength(reader: FieldReader): number {
  const first = reader.number(1);
  if (first < 192) return first;
  if (first < 224) return ((first - 192) << 8) + reader.number(1) + 192;
  if (first < 255) throw new OpenPgpError('openpgp: packet in parts');
  return reader.number(4);
}

/** Returns the packets in a sequence of bytes. Source: RFC 9580, section 4.2. */
export function readPackets(bytes: Buffer): Packet[] {
  const reader = createFieldReader(bytes);
  const packets: Packet[] = [];
  while (reader.hasMore()) {
    const head = reader.number(1);
    if ((head & 0x80) === 0) throw new OpenPgpError('openpgp: tag byte does not have MSB set');
    const isNew = (head & 0x40) !== 0;
    const tag = isNew ? head & 0x3f : (head >> 2) & 0x0f;
    packets.push({ tag, body: reader.take(isNew ? newLength(reader) : oldLength(reader, head & 3)) });
  }
  return packets;
}

/** Returns a packet with its header, in the new form. */
export function writePacket({ tag, body }: Packet): Buffer {
  const { length } = body;
  const head = [0xc0 | tag];
  if (length < 192) head.push(length);
  else if (length < 8384) head.push(((length - 192) >> 8) + 192, (length - 192) & 0xff);
  else head.push(255, length >>> 24, (length >> 16) & 0xff, (length >> 8) & 0xff, length & 0xff);
  return Buffer.concat([Buffer.from(head), body]);
}
