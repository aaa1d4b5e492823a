import { config } from 'zod/v4/core';

/**
 * Importing this makes every zod schema of the process interpret values, without generated code (`new Function`). Import it
 * before the schemas, and only in programs of our own: the setting applies to the whole process, including the schemas of
 * other packages.
 *
 * The generated functions for forge responses are large: V8 takes about 100 ms to optimize the one of a repository, and
 * uses much memory meanwhile. Events take the same processor time with and without them.
 */
config({ jitless: true });
