import { tmpdir } from 'node:os';
import { createLauncher } from '../../src/forge/platform/git/launcher.ts';

/**
 * Starts git for clones and forges of tests. Each worker has one launcher: a worker uses much memory and starts
 * processes slowly, and otherwise each test with its own forge would start a launcher.
 */
export const launcher = createLauncher({ temporary: tmpdir() });
