/** One delivery: the event type as its header says it, and the bytes of its body. */
export type FuzzedDelivery = { readonly eventType: string; readonly body: Buffer };

const nested = (open: string, close: string, depth: number): string =>
  open.repeat(depth) + close.repeat(depth);
const keys = (count: number): string =>
  `{${Array.from({ length: count }, (_, at) => `"k${at}":${at}`).join(',')}}`;

/**
 * Bodies that have broken programs that parse JSON, each sent before anything random. A body that the fuzzing finds is added here,
 * so that it is tried ever after.
 */
export const corpus: readonly (readonly [string, string | Buffer])[] = [
  ['nothing', ''],
  ['no JSON', '<html></html>'],
  ['an open object', '{"a":'],
  ['a number', '7'],
  ['null', 'null'],
  ['a byte order mark', '\ufeff{}'],
  ['64 lists', nested('[', ']', 64)],
  ['65 lists', nested('[', ']', 65)],
  ['1,000,000 open lists', '['.repeat(1_000_000)],
  ['1,000,000 lists', nested('[', ']', 500_000)],
  ['100,000 objects', nested('{"a":', '}', 100_000).replace(':}', ':1}')],
  ['100,000 members', keys(100_000)],
  ['a member twice', '{"repository":1,"repository":{"id":1}}'],
  ['an empty member', '{"":1}'],
  ['a member of 1,000,000 characters', `{"${'a'.repeat(1_000_000)}":1}`],
  ['a text of 4,000,000 characters', `{"a":"${'x'.repeat(4_000_000)}"}`],
  ['escapes without end', `{"a":"${'\\\\'.repeat(1_000_000)}"}`],
  ['a lone high surrogate', '{"ref":"\\ud800"}'],
  ['a lone low surrogate in a name', '{"\\udc00":1}'],
  ['a zero character', '{"ref":"\\u0000"}'],
  ['a right-to-left mark', '{"ref":"\\u202e"}'],
  ['a number beyond all', '{"number":1e999}'],
  ['a number beyond 2^53', '{"number":9007199254740993}'],
  ['a number of 100,000 digits', `{"number":${'9'.repeat(100_000)}}`],
  ['minus zero', '{"number":-0}'],
  ['a prototype', '{"__proto__":{"isAdmin":true}}'],
  ['an escaped prototype', '{"\\u005f_proto__":{"isAdmin":true}}'],
  ['a prototype of a constructor', '{"constructor":{"prototype":{"isAdmin":true}}}'],
  ['names of methods', '{"toString":1,"valueOf":1,"hasOwnProperty":1,"then":1,"toJSON":1,"length":-1}'],
  ['no UTF-8', Buffer.from([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x3a, 0x31, 0x7d])],
  ['overlong UTF-8', Buffer.from([0x7b, 0x22, 0xc0, 0xaf, 0x22, 0x3a, 0x31, 0x7d])],
  ['UTF-16', Buffer.from('{"a":1}', 'utf16le')],
  ['zero bytes', Buffer.alloc(10_000)],
];
