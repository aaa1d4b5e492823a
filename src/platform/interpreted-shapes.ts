import { config } from 'zod/v4/core';

/**
 * Importing this module makes every zod schema of the process validate by interpretation, without generated code
 * (`new Function`). Import it before the schemas, and only in our own programs: the setting applies to the whole
 * process, including the schemas of other packages.
 *
 * The generated functions for forge responses are large: V8 takes about 100 ms to optimize the one for a repository,
 * and uses much memory meanwhile. Events take the same CPU time with and without generated code.
 */
config({ jitless: true });
