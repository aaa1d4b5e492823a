/**
 * Loaded before the program: ends the process with status 99 if a prototype of the language has other members than at
 * the start.
 */
const prototypes = [Object, Array, String, Number, Boolean, Function, Map, Set, Promise, Error].map(
  ({ prototype }) => prototype as object,
);
const membersOf = (): string => prototypes.map((each) => Reflect.ownKeys(each).map(String).join()).join('\n');
let before: string | undefined;
setInterval(() => {
  // The first check is after the start, because libraries may add members until then.
  before ??= membersOf();
  if (membersOf() === before) return;
  console.error('a prototype has another member than before');
  process.exit(99);
}, 100).unref();
