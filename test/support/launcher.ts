import { tmpdir } from 'node:os';
import { createLauncher } from '../../src/forge/platform/git/launcher.ts';

/**
 * Starts git for clones and forges of tests. There is one launcher per worker: a worker uses much memory and starts
 * processes slowly, and each test with its own forge would otherwise start its own launcher.
 */
export const launcher = createLauncher({ temporary: tmpdir() });
