import { fileURLToPath } from 'node:url';
import { findDuplicateNames } from './names/duplicates.ts';

/** `npm run names`: lists the names of types and exported functions of `src` that have two meanings. Exit 1 for any. */
const duplicates = findDuplicateNames(fileURLToPath(new URL('..', import.meta.url)));
for (const { name, kind, places } of duplicates) console.log(`${kind} ${name}: ${places.join(', ')}`);
console.log(`${duplicates.length} duplicate names`);
process.exitCode = duplicates.length === 0 ? 0 : 1;
