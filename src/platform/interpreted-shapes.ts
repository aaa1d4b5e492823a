import { config } from 'zod/v4/core';

/**
 * Importing this makes every shape of the process check values as it stands, without a function that zod generates from it
 * (`new Function`). Import it before the shapes. Only a program of its own does: the setting is that of the whole process, with
 * the shapes of others.
 *
 * The functions for answers of the forge are large: V8 takes about 100 ms to optimize the one of a repository, and holds much memory
 * meanwhile. Events take the same processor time with and without them.
 */
config({ jitless: true });
