/** Loaded before the program: ends the process with status 99 when a prototype of the language has another member than at the start. */
const prototypes = [Object, Array, String, Number, Boolean, Function, Map, Set, Promise, Error].map(
  ({ prototype }) => prototype as object,
);
const membersOf = (): string => prototypes.map((each) => Reflect.ownKeys(each).map(String).join()).join('\n');
let before: string | undefined;
setInterval(() => {
  // The first look is after the start: libraries may add members there.
  before ??= membersOf();
  if (membersOf() === before) return;
  console.error('a prototype has another member than before');
  process.exit(99);
}, 100).unref();
